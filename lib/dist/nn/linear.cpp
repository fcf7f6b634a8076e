#include "dist/nn/linear.h"

#include <cmath>
#include <utility>

#include "dist/core/shape.h"
#include "dist/nn/lora.h"
#include "dist/nn/ops.h"
#include "dist/nn/random.h"

namespace dist::nn {

namespace {

// All leading axes act as one.
Tensor rows_of(const Tensor& t) {
  return t.view({product(Shape(t.shape().begin(), t.shape().end() - 1)), t.size(-1)});
}

Shape with_last(Shape shape, std::int64_t size) {
  if (!shape.empty()) shape.back() = size;
  return shape;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, LinearOptions options)
    : has_bias_(options.bias), weight_(&own_weight_) {
  if (in < 1 || out < 1) fail(Errc::invalid_argument, "Linear({}, {}): sizes must be at least 1", in, out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  own_weight_.initialize(uniform({out, in}, bound));
  register_parameter("weight", own_weight_);
  if (has_bias_) {
    bias_.initialize(uniform({out}, bound));
    register_parameter("bias", bias_);
  }
}

Linear::Linear(Parameter& tied) : has_bias_(false), weight_(&tied) { register_tied("weight", tied); }

Linear::~Linear() = default;

std::string Linear::str() const {
  if (!has_lora()) return fmt::format("Linear({}, {})", in(), out());
  return fmt::format("Linear({}, {}, LoRA rank {})", in(), out(), lora_->a.weight().value.size(0));
}

bool Linear::is_merged() const { return lora_ && lora_->unmerged.is_defined(); }

Tensor Linear::run_forward(const Tensor& input) {
  check_input(str(), input, weight_->value);
  if (input.dim() < 1 || input.size(-1) != in()) fail_shape(str(), input, fmt::format("[..., {}]", in()));
  Tensor output = empty(with_last(input.shape(), out()), input.dtype(), input.device());
  const Tensor rows = rows_of(output);
  const Ops& ops = ops_for(input.device());
  if (adds_bias())
    ops.affine(rows, {rows_of(input)}, {weight_->value, true}, bias_.value);
  else
    ops.matmul(rows, {rows_of(input)}, {weight_->value, true}, false);
  if (has_lora() && !is_merged()) {
    bool needs_grad = wants_input_grad();
    Tensor low = forward_child(lora_->a, input, needs_grad);
    output.add_(forward_child(lora_->b, low.mul_(lora_->scale), needs_grad));
  }
  forwards_.keep({weight_->requires_grad() && !source_ ? input : Tensor(), input.shape()});
  return output;
}

// The gradient of the input first: what comes before this layer waits for it.
Tensor Linear::run_backward(const Tensor& grad_output) {
  const Forward forward = forwards_.take();
  check_grad_output(str(), grad_output, with_last(forward.shape, out()), weight_->value);
  const Tensor grads = rows_of(grad_output);
  Tensor grad_input;
  if (wants_input_grad()) {
    grad_input = empty(forward.shape, grads.dtype(), grads.device());
    ops_for(grads.device()).matmul(rows_of(grad_input), {grads}, {weight_->value}, false);
    announce_input_grad(grad_input);
  }
  if (has_lora() && !is_merged()) {
    Tensor low = lora_->b.backward(grad_output);
    if (low.is_defined()) low = lora_->a.backward(low.mul_(lora_->scale));
    if (grad_input.is_defined()) grad_input.add_(low);
  }
  if (bias_.grad.is_defined() || weight_->requires_grad() || source_)
    add_parameter_grads([this, grads, input = forward.input] { add_grads(grads, input); });
  return grad_input;
}

// A source is asked even for a weight that is not trained: it counts its calls.
void Linear::add_grads(const Tensor& grads, const Tensor& input) {
  const Ops& ops = ops_for(grads.device());
  if (bias_.grad.is_defined()) {
    ops.add_channel_sums(bias_.grad, grads);
    bias_.grad_is_ready();
  }
  const Tensor given = source_ ? source_() : input;
  if (!weight_->requires_grad()) return;
  if (!given.is_defined())
    fail(Errc::invalid_argument,
         "{}: its weight was not trained in forward(), which has kept no input; call requires_grad(true) "
         "between two steps",
         str());
  ops.matmul(weight_->grad, {grads, true}, {rows_of(given)}, true);
  if (weight_ == &own_weight_) weight_->grad_is_ready();
}

}  // namespace dist::nn
