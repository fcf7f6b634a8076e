// Misconception: after the loss no rank needs the logits, so their memory may become that of the gradient.
//
// Killed by: Part4Vocabulary.loss_as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define vocabulary_loss right_vocabulary_loss
#include DIST_SOLUTION
#undef vocabulary_loss

namespace lab {

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  Loss loss = right_vocabulary_loss(logits, columns, targets, group);
  Tensor memory = logits;
  memory.copy_(loss.gradient);
  loss.gradient = memory;
  return loss;
}

}  // namespace lab
