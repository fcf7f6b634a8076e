// FlatLayout: the parameters of one unit as one flat tensor per rank, so that one collective serves all of
// them.
//
// Each parameter is divided along its first axis as torch_chunk() divides it (6 rows on 4 ranks: 2, 2, 2, 0),
// and each rank's part is padded to the size of the first one. A rank's shard is its padded parts, one
// parameter after the other; the shards of all ranks, one rank after the other, are what an all-gather
// returns and what a reduce-scatter takes.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"

namespace dist {

class FlatLayout {
 public:
  // n >= 1 ranks. A scalar counts as one row.
  FlatLayout(const std::vector<Shape>& parameters, int n);

  std::int64_t shard_elements() const { return shard_; }     // of one rank, with padding
  std::int64_t all_elements() const { return n_ * shard_; }  // of all ranks
  std::int64_t whole_elements() const { return whole_; }     // of all parameters, without padding

  // Rows of parameter i that rank r has: [first_row, first_row + rows).
  std::int64_t first_row(std::size_t i, int r) const;
  std::int64_t rows(std::size_t i, int r) const;
  const Shape& whole_shape(std::size_t i) const { return parts_[i].shape; }
  // The shape of rank r's part of parameter i.
  Shape part_shape(std::size_t i, int r) const;
  // Rank r's part of parameter i in a shard, as a view without the padding.
  Tensor part(const Tensor& shard, std::size_t i, int r) const;
  // Parameter i in a flat tensor of whole_elements(), as a view.
  Tensor whole(const Tensor& flat, std::size_t i) const;
  // Rank r's part of a tensor that is all of parameter i, as a view.
  Tensor part_of(const Tensor& whole, std::size_t i, int r) const;

  // Between the shards of all ranks (all_elements) and the whole parameters (whole_elements). Padding becomes
  // 0.
  void unpack(const Tensor& shards, const Tensor& flat) const;
  void pack(const Tensor& flat, const Tensor& shards) const;

 private:
  struct Part {
    Shape shape;
    std::int64_t rows, width;       // of the whole parameter
    std::int64_t in_shard, in_all;  // where it begins in a shard, and among the whole parameters
  };
  std::vector<Part> parts_;
  int n_;
  std::int64_t shard_ = 0, whole_ = 0;
};

}  // namespace dist
