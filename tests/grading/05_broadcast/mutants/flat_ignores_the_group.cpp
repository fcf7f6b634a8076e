// Misconception: the ranks of a group are the ranks of the world (flat_broadcast).
//
// Killed by: Part1Flat.every_root
// Diagnosis: ignores_the_group
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup&) { right_flat_broadcast(data, root, {}); }

}  // namespace lab
