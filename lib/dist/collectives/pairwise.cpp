#include "dist/collectives/pairwise.h"

#include "dist/collectives/chunks.h"
#include "dist/core/kernels.h"

namespace dist {

void pairwise_all_to_all(Transport& net, std::span<const TensorView> ins, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  copy(outs[rank], ins[rank]);
  for (int k = 1; k < n; ++k) {
    const int to = mod(rank + k, n), from = mod(rank - k, n);
    send_recv(net, ins[to], to, outs[from], from);
  }
}

void pairwise_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op) {
  const int n = net.size(), rank = net.rank();
  copy(out, ins[rank]);
  if (n == 1) return;
  const Scratch inbox = net.scratch(out);
  for (int k = 1; k < n; ++k) {
    const int to = mod(rank + k, n), from = mod(rank - k, n);
    send_recv(net, ins[to], to, inbox.all(), from);
    reduce(out, inbox.all(), op);
  }
}

void pairwise_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  copy(outs[rank], in);
  for (int k = 1; k < n; ++k) {
    const int to = mod(rank + k, n), from = mod(rank - k, n);
    send_recv(net, in, to, outs[from], from);
  }
}

// The parts arrive in a different order on each rank, but each element is summed by one rank only.
void pairwise_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const int n = net.size(), rank = net.rank();
  if (n == 1) return;
  const Chunks chunks{data, n};
  const TensorView own = chunks[rank];
  const Scratch inbox = net.scratch(own);
  for (int k = 1; k < n; ++k) {
    const int to = mod(rank + k, n), from = mod(rank - k, n);
    send_recv(net, chunks[to], to, inbox.all(), from);
    reduce(own, inbox.all(), op);
  }
  for (int k = 1; k < n; ++k) {
    const int to = mod(rank + k, n), from = mod(rank - k, n);
    send_recv(net, own, to, chunks[from], from);
  }
}

}  // namespace dist
