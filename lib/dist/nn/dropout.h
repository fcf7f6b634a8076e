// Dropout by a counter-based generator: whether an element is dropped depends on the seed, the step, the
// layer and the element's number in the whole batch (Module::set_position), so that any division of a batch
// or of a layer among ranks drops the same elements as one rank.
#pragma once

#include <string>

#include "dist/nn/checks.h"
#include "dist/nn/module.h"
#include "dist/nn/row_ops.h"

namespace dist::nn {

// Which elements of a tensor [outer, rows, width] a layer drops at this position; the tensor has all rows and
// columns. If a step is being recorded as a graph, later steps read the position's step again.
DropoutDraw draw_at(const Position& position, std::uint64_t layer, double p, std::int64_t rows,
                    std::int64_t width);

// In training each element of the input [batch, ..., width] becomes 0 with probability p, and is multiplied
// by 1 / (1 - p) otherwise. In evaluation the output is the input.
class Dropout : public Module {
 public:
  // `layer` tells the layers of one model apart. Throws Error{invalid_argument} for p outside [0, 1].
  explicit Dropout(double p, std::uint64_t layer = 0);
  std::string str() const override;  // "Dropout(0.1)"
  // The input's rows (its second axis) are a slice, as in sequence and context parallelism, of `all` rows.
  void set_rows(std::int64_t first, std::int64_t all) { first_row_ = first, all_rows_ = all; }

 private:
  Tensor run_forward(const Tensor& input) override;
  Tensor run_backward(const Tensor& grad_output) override;

  double p_;
  std::uint64_t layer_;
  std::int64_t first_row_ = 0, all_rows_ = 0;  // 0: the rows that are there
  Kept<DropoutDraw> draws_{*this};
};

}  // namespace dist::nn
