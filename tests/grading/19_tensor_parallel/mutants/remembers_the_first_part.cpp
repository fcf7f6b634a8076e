// Misconception: a rank has the same part of everything, so it is computed once.
//
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: remembers_the_call_before
#include "mutant.h"
#define embedding_forward right_embedding_forward
#include DIST_SOLUTION
#undef embedding_forward

namespace lab {

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  static const Range first = rows;
  return right_embedding_forward(table, {first.first, rows.count}, tokens, group);
}

}  // namespace lab
