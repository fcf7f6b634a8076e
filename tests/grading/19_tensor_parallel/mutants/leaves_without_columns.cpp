// Misconception: a rank that has no column has nothing to say about the loss.
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
  if (columns.count == 0) return {0, logits.clone()};
  return right_vocabulary_loss(logits, columns, targets, group);
}

}  // namespace lab
