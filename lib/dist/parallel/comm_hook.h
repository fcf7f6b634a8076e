// What happens to a full bucket of gradients: it is averaged over the ranks, unless a hook does something
// else (fewer bits, another reduction, counting).
#pragma once

#include <cstddef>
#include <functional>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace dist {

struct GradBucket {
  std::size_t index = 0;  // the hook gets buckets in this order, the same on all ranks
  std::size_t count = 1;  // the number of buckets
  Tensor gradients;       // one-dimensional; each gradient of the bucket is a view into it
  ProcessGroup group;
  CallSite where;  // the user's line that made the model parallel; for the hook's calls
};

// Starts the communication and returns a function that finishes it: after that, `gradients` holds the average
// over the ranks (an empty function: nothing is left to do). It is called during backward, so it must not
// wait; the returned function is called after backward.
using CommHook = std::function<std::function<void()>(const GradBucket& bucket)>;

// One all_reduce with ReduceOp::avg, in place: the default of DistributedDataParallel.
std::function<void()> all_reduce_hook(const GradBucket& bucket);
// Half of the bytes: gradients are sent as f16 (10 bits of mantissa, largest value 65,504) or bf16 (7 bits,
// the range of f32). They are divided by the number of ranks first, so intermediate sums fit whenever the
// averages do; each of these sums is rounded to the small type again.
std::function<void()> fp16_compress_hook(const GradBucket& bucket);
std::function<void()> bf16_compress_hook(const GradBucket& bucket);

}  // namespace dist
