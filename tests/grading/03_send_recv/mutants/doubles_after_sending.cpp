// Misconception: it does not matter whether a rank doubles before or after it sends. The next rank gets what
// was sent.
//
// Killed by: Part1Relay.doubles_on_the_way
// Diagnosis: doubles_after_sending
#include "mutant.h"
#define relay right_relay
#include DIST_SOLUTION
#undef relay

namespace lab {

void relay(dist::Tensor& t) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank > 0) dist::recv(t, rank - 1);
  if (rank + 1 < n) dist::send(t, rank + 1);
  if (rank > 0) t.mul_(2);
}

}  // namespace lab
