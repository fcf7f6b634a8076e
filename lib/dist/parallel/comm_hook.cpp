#include "dist/parallel/comm_hook.h"

namespace dist {
namespace {

Work start_average(Tensor& t, const GradBucket& bucket) {
  return all_reduce(t, ReduceOp::avg, {.group = bucket.group, .async_op = true, .where = bucket.where});
}

std::function<void()> compressed(const GradBucket& bucket, DType dtype) {
  // Divided first: the sum of what fits need not fit.
  Tensor small = (bucket.gradients * (1.0 / bucket.group.size())).to(dtype);
  Work work =
      all_reduce(small, ReduceOp::sum, {.group = bucket.group, .async_op = true, .where = bucket.where});
  return [work, small, gradients = bucket.gradients]() mutable {
    work.wait();
    gradients.copy_(small);
  };
}

}  // namespace

std::function<void()> all_reduce_hook(const GradBucket& bucket) {
  Tensor gradients = bucket.gradients;
  return [work = start_average(gradients, bucket)]() mutable { work.wait(); };
}

std::function<void()> fp16_compress_hook(const GradBucket& bucket) { return compressed(bucket, DType::f16); }

std::function<void()> bf16_compress_hook(const GradBucket& bucket) { return compressed(bucket, DType::bf16); }

}  // namespace dist
