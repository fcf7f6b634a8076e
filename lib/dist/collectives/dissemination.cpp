#include "dist/collectives/dissemination.h"

namespace dist {

void dissemination_barrier(Transport& net) {
  const int n = net.size(), rank = net.rank();
  const TensorView nothing;
  for (int distance = 1; distance < n; distance *= 2)
    send_recv(net, nothing, mod(rank + distance, n), nothing, mod(rank - distance, n));
}

}  // namespace dist
