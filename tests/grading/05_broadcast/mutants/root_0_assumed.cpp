// Misconception: the root of the tree is rank 0, as in the picture.
//
// Killed by: Part2Tree.any_root
// Diagnosis: root_0_assumed
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int, const ProcessGroup& group) { right_tree_broadcast(data, 0, group); }

}  // namespace lab
