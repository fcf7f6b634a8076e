#include "dist/collectives/recursive_doubling.h"

#include <utility>

#include "dist/collectives/trees.h"
#include "dist/core/kernels.h"

namespace dist {

void recursive_doubling_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const int n = net.size(), rank = net.rank(), p = floor_pow2(n);
  if (n == 1) return;
  if (rank >= p) {
    net.isend(data, rank - p).wait();
    net.irecv(data, rank - p).wait();
    return;
  }
  const Scratch inbox = net.scratch(data);
  const bool has_partner_beyond = rank + p < n;
  if (has_partner_beyond) {
    net.irecv(inbox.all(), rank + p).wait();
    reduce(data, inbox.all(), op);
  }
  TensorView mine = data, theirs = inbox.all();
  for (int distance = 1; distance < p; distance *= 2) {
    const int peer = rank ^ distance;
    send_recv(net, mine, peer, theirs, peer);
    if (peer < rank) std::swap(mine, theirs);  // the lower rank's is the left operand and becomes the result
    reduce(mine, theirs, op);
  }
  if (has_partner_beyond) net.isend(mine, rank + p).wait();
  if (mine.data != data.data) copy(data, mine);
}

}  // namespace dist
