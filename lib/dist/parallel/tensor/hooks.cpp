#include "dist/parallel/tensor/hooks.h"

#include "dist/core/axes.h"
#include "dist/nn/dropout.h"
#include "dist/nn/linear.h"

namespace dist {

Tensor SumOutput::after_forward(nn::Module& module, const Tensor& output) {
  if (auto* const linear = dynamic_cast<nn::Linear*>(&module); linear && linear->bias())
    expect_in_one_summand(linear->adds_bias(), "the bias of", line_);
  return (to_sequence_ ? reduce_scatter_time(output, line_) : sum_over(output, line_)).wait();
}

Tensor SumOutput::before_backward(nn::Module&, const Tensor& grad_output) {
  if (to_sequence_) return gather_time(grad_output, line_).wait();
  expect_whole(grad_output, "the gradient of the output of", line_);
  return grad_output;
}

Tensor SplitOutput::after_forward(nn::Module&, const Tensor& output) {
  expect_whole(output, "the output of", line_);
  return part_of_time(output, line_);
}

Tensor GatherInput::after_backward(nn::Module&, const Tensor& grad_input) {
  if (!grad_input.is_defined()) return grad_input;
  expect_whole(grad_input, "the gradient of the input of", line_);
  return part_of_time(grad_input, line_);
}

// The time is the first axis here; gather_time() and part_of_time() have checked that the ranks divide it.
Tensor SplitPositions::after_forward(nn::Module&, const Tensor& output) {
  expect_whole(output, "the output of", line_);
  const std::int64_t part = output.size(0) / line_.size();
  return output.narrow(line_.rank() * part, part);
}

Tensor SplitPositions::before_backward(nn::Module&, const Tensor& grad_output) {
  const std::int64_t part = grad_output.size(0);
  Tensor all = zeros({part * line_.size(), grad_output.size(1)}, grad_output.dtype(), grad_output.device());
  return put(all, 0, line_.rank() * part, grad_output);
}

Tensor DropPartOfTime::before_forward(nn::Module& dropout, const Tensor& input) {
  const std::int64_t part = input.size(1);
  static_cast<nn::Dropout&>(dropout).set_rows(line_.rank() * part, line_.size() * part);
  return input;
}

}  // namespace dist
