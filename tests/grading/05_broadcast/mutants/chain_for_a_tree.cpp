// Misconception: each rank that has the data sends it to the next rank, and this is all the help that a tree
// needs.
//
// Killed by: Part2Tree.few_rounds
// Diagnosis: chain_for_a_tree
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  chain_broadcast(data, root, std::max<std::int64_t>(data.numel(), 1), group);
}

}  // namespace lab
