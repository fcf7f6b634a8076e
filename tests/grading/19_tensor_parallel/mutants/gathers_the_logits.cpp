// Misconception: a softmax needs the whole row, so the logits are gathered first.
//
// Killed by: Part4Vocabulary.logits_stay_where_they_are
// Diagnosis: gathers_what_is_divided
#include "mutant.h"
#define vocabulary_loss right_vocabulary_loss
#include DIST_SOLUTION
#undef vocabulary_loss

namespace lab {

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t padded = 16 * logits.size(0);
  Tensor mine = dist::zeros({padded}, dist::DType::f64),
         all = dist::empty({padded * group.size()}, dist::DType::f64);
  mine.narrow(0, logits.numel()).copy_(logits.view({logits.numel()}));
  dist::all_gather_into_tensor(all, mine, {.group = group});
  return right_vocabulary_loss(logits, columns, targets, group);
}

}  // namespace lab
