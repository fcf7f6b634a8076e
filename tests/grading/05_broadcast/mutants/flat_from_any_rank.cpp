// Misconception: in a broadcast only one rank sends, so a receive from any rank can only get its message.
// (In the next call another rank may be the root.)
//
// Killed by: Part1Flat.every_root
// Diagnosis: calls_mixed
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) == root) return right_flat_broadcast(data, root, group);
  dist::recv(data, {.group = group});
}

}  // namespace lab
