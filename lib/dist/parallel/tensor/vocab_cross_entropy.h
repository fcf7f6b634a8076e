// VocabParallelCrossEntropy: CrossEntropyLoss of logits that are divided among ranks by class, as a
// vocabulary-parallel head gives them.
#pragma once

#include "dist/mesh/device_mesh.h"
#include "dist/nn/cross_entropy.h"
#include "dist/parallel/tensor/line.h"

namespace dist {

// Softmax merged over ranks, as in lab 08, in three small all_reduces of one f64 per target: the largest
// logit, the sum of the exponentials, and the target's logit, which one rank has. The logits stay where they
// are; loss and gradients are those of one rank up to rounding.
class VocabParallelCrossEntropy {
 public:
  // `mesh` has one axis, and rank r of it has the r-th of torch_chunk()'s parts of `classes`: the mesh and
  // the vocab_size of parallelize().
  VocabParallelCrossEntropy(const DeviceMesh& mesh, std::int64_t classes,
                            nn::CrossEntropyOptions options = {}, Caller at = Caller::here());

  // logits [..., this rank's classes]; targets [...], classes of the whole, the same on every rank. Every
  // rank of the axis must call it; each gets the loss of all classes. Throws what CrossEntropyLoss::forward()
  // throws. Logits on a GPU are copied to the CPU and back.
  nn::Loss forward(const Tensor& logits, const Tensor& targets);
  // Call it once after forward(): the gradient of this rank's logits. Does not communicate.
  Tensor backward();

 private:
  const TensorLine line_;
  const std::int64_t classes_, first_, own_;  // of all ranks; this rank's begin here, and their number
  const nn::CrossEntropyOptions options_;
  nn::Kept<Tensor> grad_{"VocabParallelCrossEntropy"};
};

}  // namespace dist
