// Misconception: every rank below n sends to the next one. The last rank is below n, too.
//
// Killed by: Part1Relay.doubles_on_the_way
// Diagnosis: off_by_one_peer
#include "mutant.h"
#define relay right_relay
#include DIST_SOLUTION
#undef relay

namespace lab {

void relay(dist::Tensor& t) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank > 0) {
    dist::recv(t, rank - 1);
    t.mul_(2);
  }
  if (rank < n) dist::send(t, rank + 1);
}

}  // namespace lab
