// Lab 15, the specification: gradients are sent while backward is still computing others.
// You write these functions in ddp_buckets.cpp. Do not change this file.
//
// A model has gradients 0, 1, 2, ..., one per parameter, in the order in which the parameters were created.
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

// Part 1. Decides which gradients travel together, by PyTorch's rule, which depends on their sizes alone.
// - Input: the size and dtype of each gradient; the limits in bytes.
// - Output: for each bucket, a list of indices into `sizes`.
// - Constraint:
//   - Gradients are taken in the given order. Each is put into the open bucket of its dtype: a bucket has one
//     dtype.
//   - A bucket is closed as soon as it holds at least as many bytes as its limit. The next gradient of that
//     dtype starts a new bucket.
//   - For each dtype, the first bucket has the limit limits[0], the second limits[1], and so on; all further
//     buckets have the last limit. Without limits no bucket is ever closed.
//   - A bucket that is still open at the end is a bucket, too.
//   - The buckets are ordered by their first gradients.
// - Example: sizes 100, 200, 400, 100, 100, all f32, and limits {300, 400} give {0, 1}, {2}, {3, 4}.
std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits);

struct Bucket {
  std::vector<std::size_t> members;  // its gradients, in their order in `memory`
  dist::Tensor memory;               // one-dimensional: the members, one after the other
  std::size_t pending = 0;           // the number of members that this backward has not computed yet
  dist::Work work = {};              // the Work of its all_reduce
};

struct Reducer {
  std::vector<Bucket> buckets;         // in the order in which they are launched
  std::vector<std::size_t> bucket_of;  // bucket_of[i]: the index of the bucket of gradient i
  std::size_t launched = 0;            // the number of buckets that are launched: the first ones
  bool syncs = true;                   // false: this backward sends nothing (Part 5)
};

// Part 2. Makes the buckets of a model.
// - Input: the gradients, of any shapes; that of a number has no axis. The limits of fill_buckets.
// - Output: a Reducer whose buckets are filled from the last gradient to the first, the order in which
//   backward computes them. `pending` is 0.
// - Constraint: each gradient becomes a view of its bucket's memory, with its shape, dtype and elements as
//   before. From then on, writing gradients[i] writes into a bucket, and no gradient is copied any more.
// - Example: three f32 gradients with 6, 3 and 2 elements, and limits {16}: bucket 0 has the members {2, 1},
//   bucket 1 has {0}, and bucket_of is {1, 0, 0}.
Reducer make_reducer(std::vector<dist::Tensor>& gradients, const std::vector<std::size_t>& limits);

// Part 3. A backward begins: no bucket is launched, and no gradient is ready.
void start(Reducer& reducer);

// Part 3. Gradient i is ready. Backward calls this once for each gradient, as soon as it is computed, and
// then continues. The order of the gradients may differ from rank to rank.
// - Constraint: a bucket is launched when all of its members are ready AND all buckets before it have been
//   launched; then at once, and several buckets if possible. To launch a bucket is to start ONE all_reduce of
//   its memory, in place, with ReduceOp::avg and .async_op, and to keep its Work. ready() never waits. If
//   reducer.syncs is false, it sends nothing.
// - Example: the buckets of the example above, and the order 0, 2, 1: ready(0) and ready(2) launch nothing,
//   ready(1) launches both buckets.
void ready(Reducer& reducer, std::size_t i);

// Part 4. The backward is over: waits for all buckets.
// - Output: every gradient is the mean over the ranks. If reducer.syncs is false, nothing is done.
// - Error: if a bucket was not launched, because gradients never became ready: waits for the buckets that
//   were launched, then throws dist::Error{invalid_argument}. Its text names the index of the missing bucket
//   ("bucket 2"), or of the first of them.
// - Example: the buckets of the example above, and gradient 1 never becomes ready: neither bucket can be
//   launched, and the text names bucket 0.
void finish(Reducer& reducer);

// Part 5. Computes the gradients of one training step from several small batches.
// - Input: the number of batches, count >= 1. backward(batch) adds to the gradients, and calls ready() for
//   all of them.
// - Output: each gradient is the mean over the ranks of the sums over the batches. `syncs` is true, whatever
//   it was before.
// - Constraint: calls backward(0), ..., backward(count - 1), each between start() and finish(). Only the last
//   batch sends. No gradient is set to zero here; that is the caller's task.
// - Error: what backward() throws reaches the caller, and `syncs` is true then, too.
// - Example: two batches with the gradients 1 and 2 on rank 0, and 2 and 4 on rank 1: both ranks end with
//   4.5.
void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward);

}  // namespace lab
