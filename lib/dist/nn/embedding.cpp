#include "dist/nn/embedding.h"

#include <utility>

#include "dist/nn/ops.h"
#include "dist/nn/random.h"

namespace dist::nn {

Embedding::Embedding(std::int64_t rows, std::int64_t width) : rows_(rows) {
  if (rows < 1 || width < 1)
    fail(Errc::invalid_argument, "Embedding({}, {}): sizes must be at least 1", rows, width);
  weight_.initialize(normal({rows, width}, 1));
  register_parameter("weight", weight_);
  skip_input_grad();
}

std::string Embedding::str() const { return fmt::format("Embedding({}, {})", rows_, weight_.value.size(1)); }

void Embedding::set_slice(std::int64_t first_row, std::int64_t all_rows) {
  first_ = first_row;
  rows_ = all_rows;
}

Tensor Embedding::run_forward(const Tensor& input) {
  if (!input.is_defined() || input.dtype() != DType::i64 || input.device() != weight_.value.device())
    fail(
        Errc::invalid_argument, "{}: the input is {}, i64 tokens on {} are expected", str(),
        input.is_defined() ? fmt::format("{} on {}", name(input.dtype()), input.device().str()) : "undefined",
        weight_.value.device().str());
  if (input.device() == cpu)
    for (const std::int64_t token : input.data<std::int64_t>())
      if (token < 0 || token >= rows_)
        fail(Errc::invalid_argument, "{}: token {} has no row; rows are counted from 0", str(), token);
  Shape shape = input.shape();
  shape.push_back(weight_.value.size(1));
  Tensor out = empty(std::move(shape), weight_.value.dtype(), weight_.value.device());
  ops_for(out.device()).gather_rows(out, weight_.value, input, first_);
  tokens_.keep(input);
  return out;
}

Tensor Embedding::run_backward(const Tensor& grad_output) {
  const Tensor tokens = tokens_.take();
  Shape shape = tokens.shape();
  shape.push_back(weight_.value.size(1));
  check_grad_output(str(), grad_output, shape, weight_.value);
  add_parameter_grads([this, tokens, grad_output] {
    ops_for(grad_output.device()).add_to_rows(weight_.grad, grad_output, tokens, first_);
    weight_.grad_is_ready();
  });
  return {};
}

}  // namespace dist::nn
