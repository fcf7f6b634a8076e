// Data with a known answer: what each rank puts in, and what has to come out. Small whole numbers, so that
// every dtype has them and sums are exact in any order; all results differ along the buffer and between
// ranks.
#pragma once

#include <cstdint>

#include "dist/core/tensor.h"

#include "distlab/bench/collective.h"

namespace distlab::bench {

struct Question {
  Collective collective = Collective::all_reduce;
  int ranks = 1, rank = 0, root = 0;
  dist::DType dtype = dist::DType::f32;
  dist::ReduceOp op;
  std::int64_t count = 0;  // elements of a share

  bool is_root() const { return rank == root; }
  int partner() const;  // in ping-pong; -1 for the last of an odd number
};

// Rank `rank`'s input at `index`.
int contribution(const Question& question, int rank, std::int64_t index);

// This rank's input, at the beginning of `into` (as long as elements().in, or .out where that is both).
void fill_input(const Question& question, dist::Tensor& into);
// Nothing that is a right answer.
void fill_garbage(dist::Tensor& tensor);
// Elements of this rank's output that are not what they have to be.
std::int64_t count_wrong(const Question& question, const dist::Tensor& output);

}  // namespace distlab::bench
