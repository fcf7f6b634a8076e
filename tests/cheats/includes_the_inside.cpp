// Cheat: calls the library's own algorithm, under the name of a point-to-point operation.
// Told: from inside of the library
#include "all_gather_all_reduce.h"

namespace dist {
class Transport;
class Tensor;
void ring_all_gather(Transport&, Tensor&, const Tensor&);
}  // namespace dist

static void cheat(dist::Tensor& out, const dist::Tensor& in) {
  dist::ring_all_gather(*static_cast<dist::Transport*>(nullptr), out, in);
}
