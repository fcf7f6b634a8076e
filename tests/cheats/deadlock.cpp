// Cheat: every rank waits for a message that no rank sends.
// Told: D1
#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor& out, const dist::Tensor&) {
  const int n = dist::get_world_size();
  if (n > 1) dist::recv(out, (dist::get_rank() + 1) % n);
}
