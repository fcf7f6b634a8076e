// What is done with a bucket of gradients once it is full: averaged over the ranks, unless somebody knows
// better (fewer bits, another reduction, counting).
#pragma once

#include <cstddef>
#include <functional>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace dist {

struct GradBucket {
  std::size_t index = 0;  // buckets are given to the hook in this order, the same on all ranks
  std::size_t count = 1;  // of buckets
  Tensor gradients;       // one-dimensional; each gradient of the bucket is a view into it
  ProcessGroup group;
  CallSite where;  // where the user made what these gradients belong to: for the calls of the hook
};

// Starts the communication and returns what finishes it: afterwards `gradients` holds the average over the
// ranks (empty: nothing is left to do). Called in the midst of backward, so it must not wait; the finish is
// called when backward is over.
using CommHook = std::function<std::function<void()>(const GradBucket& bucket)>;

// One all_reduce with ReduceOp::avg, in place. What DistributedDataParallel does unless told otherwise.
std::function<void()> all_reduce_hook(const GradBucket& bucket);
// Half of the bytes: gradients travel as f16 (10 bits of mantissa, largest 65,504) or bf16 (7 bits, range of
// f32). Divided by the number of ranks first, as far as their average fits so do the sums on the way; each of
// these sums is rounded to the small type again.
std::function<void()> fp16_compress_hook(const GradBucket& bucket);
std::function<void()> bf16_compress_hook(const GradBucket& bucket);

}  // namespace dist
