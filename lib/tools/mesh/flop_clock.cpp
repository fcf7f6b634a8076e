#include "mesh/flop_clock.h"

#include <memory>
#include <utility>

#include "dist/nn/attention.h"
#include "dist/nn/linear.h"
#include "dist/parallel/context/ring_attention.h"
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

// Two products of queries and keys, half of each where causal tokens look at themselves; backward has five.
class ClockedAttention final : public nn::AttentionCore {
 public:
  explicit ClockedAttention(double flops_per_second) : rate_(flops_per_second) {}
  void forward(nn::Heads out, Tensor lse, const nn::Heads& q, const nn::Heads& k, const nn::Heads& v,
               const nn::AttentionOptions& options) const override {
    AttentionCore::forward(std::move(out), std::move(lse), q, k, v, options);
    sim::compute(2 * seconds_of_product(q, k, options));
  }
  void backward(nn::RowOps::AttentionGrads grads, const nn::Heads& grad_out, const nn::Heads& out,
                const Tensor& lse, const nn::Heads& q, const nn::Heads& k, const nn::Heads& v,
                const nn::AttentionOptions& options) const override {
    AttentionCore::backward(std::move(grads), grad_out, out, lse, q, k, v, options);
    sim::compute(5 * seconds_of_product(q, k, options));
  }

 private:
  double seconds_of_product(const nn::Heads& q, const nn::Heads& k,
                            const nn::AttentionOptions& options) const {
    const bool sees_half = options.causal && options.first_query == options.first_key;
    const auto pairs = static_cast<double>(q.time()) * static_cast<double>(k.time()) / (sees_half ? 2 : 1);
    return 2.0 * static_cast<double>(q.batch() * q.count * q.size) * pairs / rate_;
  }

  const double rate_;
};

}  // namespace

void charge_flops(nn::Module& module, double flops_per_second) {
  for (nn::Module* const each : module.modules()) {
    if (dynamic_cast<nn::Linear*>(each)) each->add_hook(std::make_shared<LinearClock>(flops_per_second));
    if (auto* const attention = dynamic_cast<nn::CausalSelfAttention*>(each)) {
      const auto clocked = std::make_shared<ClockedAttention>(flops_per_second);
      const auto ring = std::dynamic_pointer_cast<const RingAttention>(attention->core());
      if (ring)
        attention->set_core(ring->with_block(clocked));
      else
        attention->set_core(clocked);
    }
  }
}

}  // namespace dist
