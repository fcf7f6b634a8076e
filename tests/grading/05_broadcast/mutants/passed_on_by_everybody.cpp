// Misconception: a broadcast is right once every rank has the data, whichever rank sends it, so the flat one
// may be a tree.
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
