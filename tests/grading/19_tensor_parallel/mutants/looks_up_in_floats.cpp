// Misconception: numbers of a model need no more than a float has, so rows of the table go through f32.
//
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define embedding_forward right_embedding_forward
#include DIST_SOLUTION
#undef embedding_forward

namespace lab {

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  return right_embedding_forward(table.to(dist::DType::f32).to(table.dtype()), rows, tokens, group);
}

}  // namespace lab
