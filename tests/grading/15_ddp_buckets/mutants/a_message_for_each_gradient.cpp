// Misconception: a bucket only decides when its gradients are sent; each of them is still a message of its
// own.
//
// Killed by: Part3Ready.one_all_reduce_a_bucket
// Diagnosis: an_all_reduce_for_each_gradient
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0) {
    const Tensor& memory = reducer.buckets[reducer.launched].memory;
    const auto shares =
        memory.chunk(static_cast<std::int64_t>(reducer.buckets[reducer.launched++].members.size()));
    for (Tensor share : shares) dist::all_reduce(share, dist::ReduceOp::avg);
  }
}

}  // namespace lab
