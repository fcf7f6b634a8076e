// Misconception: a broadcast is done when everybody has it, whoever sends; flat may be a tree.
//
// Killed by: Part1Flat.only_the_root_sends
// Diagnosis: not_flat
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) { tree_broadcast(data, root, group); }

}  // namespace lab
