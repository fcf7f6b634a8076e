// CrossEntropyLoss: -log softmax(logits)[target], how unlikely the right class is, as the mean over a batch.
#pragma once

#include "dist/nn/checks.h"

namespace dist::nn {

class CrossEntropyLoss {
 public:
  // logits [batch, classes], f32 or f64, on any device; targets [batch], i64, on the CPU or the logits'
  // device. Never overflows, however large the logits are. Throws Error{invalid_argument} for an empty batch
  // and for a target outside [0, classes), which it names. On a GPU this waits for all earlier work.
  double forward(const Tensor& logits, const Tensor& targets);

  // Call it once after forward(). Returns the gradient of the logits, (softmax - one-hot) / batch.
  Tensor backward();

 private:
  Kept<Tensor> grad_{"CrossEntropyLoss"};
};

}  // namespace dist::nn
