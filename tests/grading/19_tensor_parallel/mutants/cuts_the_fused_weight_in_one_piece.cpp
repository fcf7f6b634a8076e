// Misconception: the fused layer is a column-parallel layer like any other: its rows are divided among the
// ranks.
//
// Killed by: Part3Heads.heads_stay_whole
// Diagnosis: cuts_the_fused_weight_in_one_piece
#include "mutant.h"
#define cut_heads right_cut_heads
#include DIST_SOLUTION
#undef cut_heads

namespace lab {

Pair cut_heads(const Pair& whole, std::int64_t heads, const ProcessGroup& group) {
  return {cut_column(whole.first, group), right_cut_heads(whole, heads, group).second};
}

}  // namespace lab
