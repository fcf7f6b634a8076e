// Misconception: the ranks of a group are the ranks of the world (tree_broadcast).
//
// Killed by: Part2Tree.any_root
// Diagnosis: ignores_the_group
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup&) { right_tree_broadcast(data, root, {}); }

}  // namespace lab
