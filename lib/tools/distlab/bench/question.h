// Question: test data with a known result, the input of each rank and the output of the collective. The
// values are small integers, which every dtype can represent and whose sums are exact in any order. All
// results differ along the buffer and between ranks.
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
  std::int64_t count = 0;  // elements per part

  bool is_root() const { return rank == root; }
  int partner() const;  // in ping-pong; -1 for the last rank of an odd number
};

// Returns the input of rank `rank` at `index`.
int contribution(const Question& question, int rank, std::int64_t index);

// Writes this rank's input to the beginning of `into`. Its length is elements().in, or .out if that is both
// input and output.
void fill_input(const Question& question, dist::Tensor& into);
// Fills the tensor with values that are never a right result.
void fill_garbage(dist::Tensor& tensor);
// Returns how many elements of this rank's output are wrong.
std::int64_t count_wrong(const Question& question, const dist::Tensor& output);

}  // namespace distlab::bench
