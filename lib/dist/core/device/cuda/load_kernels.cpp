#include <utility>

#include "dist/core/device/cuda/kernels.h"
#include "dist/core/device/cuda/launch.h"

namespace dist::cuda_kernels {

namespace {

class OnlyLoads {
 public:
  OnlyLoads() : before_(std::exchange(only_loads(), true)) {}
  ~OnlyLoads() { only_loads() = before_; }
  OnlyLoads(const OnlyLoads&) = delete;
  OnlyLoads& operator=(const OnlyLoads&) = delete;

 private:
  const bool before_;
};

}  // namespace

bool& only_loads() noexcept {
  thread_local bool only = false;
  return only;
}

// Only the calls that launch kernels know which kernels exist, so this makes every such call, for every
// dtype.
void load_kernels(Device device) {
  const OnlyLoads guard;
  const TensorView none{nullptr, 0, DType::u8, device};
  const PartViews nothing{.outs = {&none, 1}, .ins = {&none, 1}};
  copy_parts(nullptr, {&nothing, 1});
  for (const DType dtype : all_dtypes) {
    const TensorView view{nullptr, 0, dtype, device};
    for (auto kind = ReduceOp::Kind::sum; kind < ReduceOp::Kind::premul_sum;
         kind = static_cast<ReduceOp::Kind>(static_cast<int>(kind) + 1))
      reduce_many(nullptr, {&view, 1}, {&view, 1}, ReduceOp(kind));
    fill(nullptr, view, 0);
    scale(nullptr, view, 1);
    divide(nullptr, view, 1);
    add_scaled(nullptr, view, view, 1);
    for (const UnaryOp op : {UnaryOp::exp, UnaryOp::sqrt}) unary(nullptr, view, view, op);
    for (const BinaryOp op : {BinaryOp::add, BinaryOp::subtract, BinaryOp::multiply, BinaryOp::divide})
      binary(nullptr, view, view, view, op);
    for (const DType from : all_dtypes) convert(nullptr, view, {nullptr, 0, from, device});
  }
}

}  // namespace dist::cuda_kernels
