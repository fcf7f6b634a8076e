// Lab 15, the contract: gradients that travel while backward is still computing others.
// You write these functions in ddp_buckets.cpp; this file stays as it is.
//
// A model has gradients 0, 1, 2, ..., one a parameter, in the order in which the parameters were made.
// Backward computes them from the last to the first, more or less. They travel in buckets: several gradients
// in one piece of memory, which one all_reduce averages over the ranks of the default group. Of the library's
// operations only all_reduce is used.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

struct Size {
  std::size_t bytes = 0;
  dist::DType dtype = dist::DType::f32;
};

// Part 1. Which of these gradients travel together: PyTorch's rule, a function of sizes alone. A list of
// indices into `sizes` for each bucket.
// - Gradients are taken in the order given. Each goes into the bucket that is being filled for its dtype: a
//   bucket has one dtype.
// - A bucket is closed as soon as it holds its limit in bytes, or more. The next gradient of that dtype
//   begins another one.
// - Of each dtype, the first bucket has limits[0], the second limits[1], and so on; the last limit is that of
//   all further buckets. Without limits a bucket is never closed.
// - What is still open at the end is a bucket, too.
// - Buckets are ordered by their first gradient.
std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits);

struct Bucket {
  std::vector<std::size_t> members;  // gradients, in the order in which they lie in `memory`
  dist::Tensor memory;               // of one dimension: the members, one behind the other
  std::size_t pending = 0;           // members that this backward has not computed yet
  dist::Work work = {};              // of its all_reduce
};

struct Reducer {
  std::vector<Bucket> buckets;         // in the order in which they are launched
  std::vector<std::size_t> bucket_of;  // of gradient i: the place of its bucket
  std::size_t launched = 0;            // so many buckets, the first ones, are under way
  bool syncs = true;                   // false: this backward sends nothing (part 5)
};

// Part 2. The buckets of a model. They are filled from the last gradient to the first, as backward comes upon
// them. Each gradient becomes a view of its bucket's memory and keeps shape, dtype and elements: afterwards
// whoever writes gradients[i] writes into a bucket, and no gradient is copied any more. `pending` is 0.
Reducer make_reducer(std::vector<dist::Tensor>& gradients, const std::vector<std::size_t>& limits);

// Part 3. A backward begins: nothing is launched, no gradient is there.
void start(Reducer& reducer);

// Part 3. Backward calls it when gradient i is computed, once for each, and then goes on; on another rank the
// order may be another one. A bucket is launched (all_reduce with ReduceOp::avg and .async_op, in place, its
// Work kept) when all its members are there AND all buckets before it have been launched: at once then, and
// several of them where that is so. Waits for nothing. Every bucket is sent by ONE all_reduce. Where
// reducer.syncs is false it sends nothing.
void ready(Reducer& reducer, std::size_t i);

// Part 4. The backward is over: waits for all buckets, after which every gradient is the mean over the ranks.
// If a bucket could not be launched, because gradients never came: waits for those that were, then throws
// dist::Error{invalid_argument}; its text names the missing bucket's place ("bucket 2"), the first of them if
// there are several. Where reducer.syncs is false it does nothing.
void finish(Reducer& reducer);

// Part 5. One training step's gradients from several small batches: calls backward(0), ...,
// backward(count - 1), count >= 1, each of which adds to the gradients and calls ready() for all of them.
// Each stands between start() and finish(). Nothing is set to zero here: that is the caller's. Only the last
// batch sends: afterwards each gradient is the mean over the ranks of the sums. Leaves `syncs` true.
void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward);

}  // namespace lab
