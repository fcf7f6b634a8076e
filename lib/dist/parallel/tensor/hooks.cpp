#include "dist/parallel/tensor/hooks.h"

#include "dist/core/axes.h"
#include "dist/nn/dropout.h"

namespace dist {

Tensor SumOutput::after_forward(nn::Module&, const Tensor& output) {
  return (to_sequence_ ? reduce_scatter_time(output, line_) : sum_over(output, line_)).wait();
}

Tensor SumOutput::before_backward(nn::Module&, const Tensor& grad_output) {
  return to_sequence_ ? gather_time(grad_output, line_).wait() : grad_output;
}

// The time is the first axis here; gather_time() and part_of_time() have checked that the ranks divide it.
Tensor SplitPositions::after_forward(nn::Module&, const Tensor& output) {
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
