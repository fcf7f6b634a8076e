// CrossEntropyLoss: how unlikely the right classes are, -log softmax(logits)[target], as a mean.
#pragma once

#include "dist/nn/checks.h"

namespace dist::nn {

class CrossEntropyLoss {
 public:
  // logits [batch, classes], f32 or f64, any device; targets [batch], i64, on the CPU or beside the logits.
  // No overflow, however large the logits are. Error{invalid_argument} for an empty batch and for a target
  // outside of [0, classes), which is named. On a GPU this waits for all work before it.
  double forward(const Tensor& logits, const Tensor& targets);

  // Of the last forward(), once: the gradient of the logits, (softmax - one-hot) / batch.
  Tensor backward();

 private:
  Kept<Tensor> grad_;
};

}  // namespace dist::nn
