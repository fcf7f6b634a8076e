#include "dist/collectives/chain.h"

#include <array>

#include "dist/collectives/segments.h"
#include "dist/core/kernels.h"

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

void chain_reduce(Transport& net, TensorView data, ReduceOp op, int root, std::int64_t segment_bytes) {
  const int n = net.size(), rank = net.rank(), place = mod(rank - root, n);
  const bool receives = place<n - 1, sends = place> 0;
  const Segments segments(data, segment_bytes);
  std::array<Scratch, 2> inboxes;
  if (receives)
    for (Scratch& inbox : inboxes) inbox = net.scratch(segments[0]);
  // Segment `step` arrives while the one before it is reduced and leaves.
  for (int step = 0; step <= segments.count(); ++step) {
    Request got, put;
    const bool arrives = receives && step < segments.count();
    if (arrives) got = net.irecv(inboxes[step % 2].of(segments[step]), mod(rank + 1, n));
    if (step > 0) {
      const TensorView mine = segments[step - 1];
      const TensorView sum = receives ? inboxes[(step - 1) % 2].of(mine) : mine;
      if (receives) sends ? reduce(sum, mine, op) : reduce(mine, sum, op);
      if (sends) put = net.isend(sum, mod(rank - 1, n));
    }
    if (arrives) got.wait();
    if (sends && step > 0) put.wait();
  }
}

}  // namespace dist
