// clip_grad_norm: limits the length of all gradients together, as torch.nn.utils.clip_grad_norm_.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "dist/nn/parameter.h"

namespace dist::nn {

// A norm, which stays on its device until it is asked for.
class Norm {
 public:
  explicit Norm(Tensor squared) : squared_(std::move(squared)) {}
  double item() const;  // on a GPU this waits for all earlier work
  operator double() const { return item(); }

 private:
  Tensor squared_;  // [] f64
};

struct ClipOptions {
  // A norm that is inf or NaN throws Error{invalid_argument}, which names the first parameter whose gradient
  // has it; no gradient has changed then. On a GPU this waits for the norm. Otherwise, as in torch, NaN makes
  // all gradients NaN, and inf makes them 0 or NaN.
  bool error_if_nonfinite = false;
};

// Multiplies all gradients by min(1, max_norm / (norm + 1e-6)), where norm is the root of the sum of the
// squares of all their elements, and returns it: the norm before. Squares are added in f64. Parameters that
// are not trained do not count. Throws Error{invalid_argument} for a max_norm that is not above 0, and for
// gradients on several devices or of several dtypes.
//
// Where ranks have divided parameters among them (Parameter::division: fully_shard(), parallelize(),
// pipelines, ZeroOptimizer), the norm is that of the whole model's gradient, in which each element counts
// once, and the same on all ranks, which must all call it with the parameters of the same modules.
Norm clip_grad_norm(std::span<const NamedParameter> parameters, double max_norm,
                    const ClipOptions& options = {});
// The same; parameters have numbers instead of names.
Norm clip_grad_norm(const std::vector<Parameter*>& parameters, double max_norm,
                    const ClipOptions& options = {});

// Its first half, the sum of all squares: ranks that have parts of the gradients add theirs up. All tensors
// are bf16, f32 or f64, of one dtype and on one device.
Tensor squared_norm(std::span<const Tensor> tensors);  // [] f64, on the tensors' device

}  // namespace dist::nn
