#include "dist/parallel/comm_hook.h"

namespace dist {
namespace {

Work start(Tensor& t, ReduceOp op, const GradBucket& bucket) {
  return all_reduce(t, op, {.group = bucket.group, .async_op = true}, bucket.where);
}

std::function<void()> compressed(const GradBucket& bucket, DType dtype) {
  // Divided first: every value may fit the small type although their sum does not.
  Tensor small = (bucket.gradients * (1.0 / bucket.group.size())).to(dtype);
  Work work = start(small, ReduceOp::sum, bucket);
  return [work, small, gradients = bucket.gradients]() mutable {
    work.wait();
    gradients.copy_(small);
  };
}

}  // namespace

std::function<void()> all_reduce_hook(const GradBucket& bucket) {
  Tensor gradients = bucket.gradients;
  return [work = start(gradients, ReduceOp::avg, bucket)]() mutable { work.wait(); };
}

std::function<void()> fp16_compress_hook(const GradBucket& bucket) { return compressed(bucket, DType::f16); }

std::function<void()> bf16_compress_hook(const GradBucket& bucket) { return compressed(bucket, DType::bf16); }

}  // namespace dist
