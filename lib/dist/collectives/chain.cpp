#include "dist/collectives/chain.h"

namespace dist {

void chain_broadcast(Transport& net, TensorView data, int root, std::int64_t segment_bytes) {
  const int n = net.size(), rank = net.rank(), place = mod(rank - root, n);
  const Segments segments(data, segment_bytes);
  for (int step = 0; step <= segments.count();
       ++step) {  // segment `step` arrives while the one before it leaves
    const bool arrives = place > 0 && step < segments.count();
    const bool leaves = place < n - 1 && step > 0;
    Request got, put;
    if (arrives) got = net.irecv(segments[step], mod(rank - 1, n));
    if (leaves) put = net.isend(segments[step - 1], mod(rank + 1, n));
    if (arrives) got.wait();
    if (leaves) put.wait();
  }
}

}  // namespace dist
