// Misconception: each token is looked up by itself, so its row is summed by itself.
//
// Killed by: Part4Vocabulary.logits_stay_where_they_are
// Diagnosis: one_all_reduce_per_piece
#include "mutant.h"
#define embedding_forward right_embedding_forward
#include DIST_SOLUTION
#undef embedding_forward

namespace lab {

Tensor embedding_forward(const Tensor& table, Range rows, const std::vector<std::int64_t>& tokens,
                         const ProcessGroup& group) {
  Tensor y = dist::zeros({static_cast<std::int64_t>(tokens.size()), table.size(1)}, table.dtype());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    y.narrow(static_cast<std::int64_t>(i), 1).copy_(right_embedding_forward(table, rows, {tokens[i]}, group));
  return y;
}

}  // namespace lab
