// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
//
// Killed by: Part1Flat.every_root
// Diagnosis: not_in_place
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  Tensor received = data.clone();
  right_flat_broadcast(received, root, group);
  data = received;
}

}  // namespace lab
