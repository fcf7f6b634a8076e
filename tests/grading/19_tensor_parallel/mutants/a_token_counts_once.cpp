// Misconception: each token has one row in the table, so its gradient is copied there.
//
// Killed by: Part4Vocabulary.embedding_as_on_one_rank
// Diagnosis: overwrites_the_gradient
#include "mutant.h"
#define embedding_backward right_embedding_backward
#include DIST_SOLUTION
#undef embedding_backward

namespace lab {

void embedding_backward(Tensor& table_gradient, Range rows, const std::vector<std::int64_t>& tokens,
                        const Tensor& grad) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int64_t row = tokens[i] - rows.first;
    if (row >= 0 && row < rows.count) table_gradient[row].copy_(grad[static_cast<std::int64_t>(i)]);
  }
}

}  // namespace lab
