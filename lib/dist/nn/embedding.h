// Embedding: a table of rows, of which each token selects one. As torch.nn.Embedding.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"

namespace dist::nn {

// Input [...] i64, the numbers of rows; output [..., width]. weight [rows, width], drawn from the standard
// normal distribution. There is no gradient of the input: backward() returns an undefined tensor.
class Embedding : public Module {
 public:
  // Throws Error{invalid_argument} for sizes below 1.
  Embedding(std::int64_t rows, std::int64_t width);
  std::string str() const override;  // "Embedding(65, 128)"

  Parameter& weight() { return weight_; }
  // The table is a slice of a larger one and begins at this row of it: tokens of other rows give zeros and no
  // gradient, so that the sum over all slices' ranks is the whole table's output. Without a slice, a token
  // without a row is an Error{invalid_argument}, on the CPU.
  void set_slice(std::int64_t first_row, std::int64_t all_rows);

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  Parameter weight_;
  std::int64_t rows_, first_ = 0;  // of the whole table
  Kept<Tensor> tokens_{*this};
};

}  // namespace dist::nn
