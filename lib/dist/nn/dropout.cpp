#include "dist/nn/dropout.h"

#include "dist/core/shape.h"
#include "dist/nn/graphed_step.h"
#include "dist/nn/ops.h"
#include "dist/nn/row_functors.h"

namespace dist::nn {

DropoutDraw draw_at(const Position& position, std::uint64_t layer, double p, std::int64_t rows,
                    std::int64_t width) {
  GraphedStep* const graphed = p > 0 ? GraphedStep::recording() : nullptr;
  return {.p = p,
          .key = functors::draw_key(position.seed, position.step, layer),
          .step = graphed ? graphed->step_of(position) : nullptr,
          .seed = position.seed,
          .layer = layer,
          .rows = rows,
          .width = width,
          .all_rows = rows,
          .all_width = width,
          .first_outer = position.first_row};
}

Dropout::Dropout(double p, std::uint64_t layer) : p_(p), layer_(layer) {
  if (!(p >= 0 && p <= 1)) fail(Errc::invalid_argument, "Dropout({}): a probability is from 0 to 1", p);
}

std::string Dropout::str() const { return fmt::format("Dropout({})", p_); }

Tensor Dropout::run_forward(const Tensor& input) {
  check_input(str(), input);
  if (input.dim() < 2) fail_shape(str(), input, "[batch, ..., width]");
  const std::int64_t width = input.size(-1);
  const std::int64_t rows = product(Shape(input.shape().begin() + 1, input.shape().end() - 1));
  DropoutDraw draw = draw_at(position(), layer_, is_training() ? p_ : 0, rows, width);
  draw.first_row = first_row_;
  if (all_rows_ > 0) draw.all_rows = all_rows_;
  draws_.keep(draw);
  if (draw.p == 0) return input;
  Tensor out = empty_like(input);
  ops_for(input.device()).dropout(out, input, draw);
  return out;
}

Tensor Dropout::run_backward(const Tensor& grad_output) {
  const DropoutDraw draw = draws_.take();
  if (draw.p == 0) return grad_output;
  Tensor grad_input = empty_like(grad_output);
  ops_for(grad_output.device()).dropout(grad_input, grad_output, draw);
  return grad_input;
}

}  // namespace dist::nn
