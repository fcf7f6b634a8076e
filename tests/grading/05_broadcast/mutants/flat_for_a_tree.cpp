// Misconception: the root sends to all ranks, because only the root has the data.
//
// Killed by: Part2Tree.few_rounds
// Diagnosis: flat_for_a_tree
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) { flat_broadcast(data, root, group); }

}  // namespace lab
