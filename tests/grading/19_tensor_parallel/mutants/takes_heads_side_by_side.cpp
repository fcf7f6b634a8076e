// Misconception: each head has its query, its key and its value in 3 d consecutive rows.
//
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: cuts_the_fused_weight_in_one_piece
#include "mutant.h"
#define cut_heads right_cut_heads
#include DIST_SOLUTION
#undef cut_heads

namespace lab {

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  const std::int64_t d = whole.second.weight.size(1) / heads;
  const Range own = own_part(heads, group), rows{3 * d * own.first, 3 * d * own.count};
  return {with_gradients(copy_of_rows(whole.first.weight, rows), copy_of_rows(whole.first.bias, rows)),
          right_cut_heads(whole, heads, group).second};
}

}  // namespace lab
