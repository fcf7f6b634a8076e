// Misconception: a token is the number of a row.
//
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: forgets_the_offset
#include "mutant.h"
#define embedding_forward right_embedding_forward
#include DIST_SOLUTION
#undef embedding_forward

namespace lab {

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  return right_embedding_forward(table, {0, rows.count}, tokens, group);
}

}  // namespace lab
