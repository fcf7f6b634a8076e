#include "dist/parallel/hybrid/flop_clock.h"

#include <memory>

#include "dist/nn/attention.h"
#include "dist/nn/linear.h"
#include "dist/simulate/simulate.h"

namespace dist {

namespace {

class LinearClock final : public nn::ModuleHook {
 public:
  explicit LinearClock(double flops_per_second) : rate_(flops_per_second) {}
  Tensor after_forward(nn::Module& module, const Tensor& output) override {
    const Shape& weight = static_cast<nn::Linear&>(module).weight().value.shape();
    seconds_ = 2.0 * static_cast<double>(output.numel() / weight[0]) *
               static_cast<double>(weight[0] * weight[1]) / rate_;
    sim::compute(seconds_);
    return output;
  }
  void on_input_grad(nn::Module&, Tensor&) override { sim::compute(seconds_); }
  Tensor after_backward(nn::Module& module, const Tensor& grad_input) override {
    if (!module.defers_parameter_grads()) sim::compute(seconds_);
    return grad_input;
  }
  void after_parameter_grads(nn::Module&) override { sim::compute(seconds_); }

 private:
  const double rate_;
  double seconds_ = 0;  // of one product; all batches have one shape
};

class AttentionClock final : public nn::ModuleHook {
 public:
  explicit AttentionClock(double flops_per_second) : rate_(flops_per_second) {}
  Tensor after_forward(nn::Module& module, const Tensor& output) override {
    auto& layer = static_cast<nn::CausalSelfAttention&>(module);
    const auto time = static_cast<double>(output.size(1));
    const auto width = static_cast<double>(layer.c_proj().weight().value.size(1));
    seconds_ = 2.0 * static_cast<double>(output.size(0)) * time * time * width / rate_;
    sim::compute(seconds_);
    return output;
  }
  Tensor after_backward(nn::Module&, const Tensor& grad_input) override {
    sim::compute(2.5 * seconds_);
    return grad_input;
  }

 private:
  const double rate_;
  double seconds_ = 0;
};

}  // namespace

void charge_flops(nn::Module& module, double flops_per_second) {
  for (nn::Module* const each : module.modules()) {
    if (dynamic_cast<nn::Linear*>(each)) each->add_hook(std::make_shared<LinearClock>(flops_per_second));
    if (dynamic_cast<nn::CausalSelfAttention*>(each))
      each->add_hook(std::make_shared<AttentionClock>(flops_per_second));
  }
}

}  // namespace dist
