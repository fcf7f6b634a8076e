#include "dist/collectives/ring.h"

#include <array>

#include "dist/collectives/chunks.h"
#include "dist/core/kernels.h"

namespace dist {

namespace {

// In step s a rank passes on chunk rank-s-1, to which it has just added its part, while chunk rank-s-2
// arrives. Afterwards chunk `rank` is complete on this rank.
void reduce_scatter_phase(Transport& net, const Chunks& chunks, ReduceOp op) {
  const int n = net.size(), rank = net.rank();
  const int previous = mod(rank - 1, n), next = mod(rank + 1, n);
  const Scratch inbox = net.scratch(largest(chunks));
  TensorView out = chunks[previous];
  for (int step = 0; step < n - 1; ++step) {
    const TensorView acc = chunks[mod(rank - step - 2, n)];
    const TensorView arriving = inbox.of(acc);
    Request got = net.irecv(arriving, previous);
    Request put = net.isend(out, next);
    got.wait();
    reduce(acc, arriving, op);
    put.wait();
    out = acc;
  }
}

// Chunk `rank` is complete on this rank before; all chunks are afterwards. In step s chunk rank-s is passed
// on, which has just arrived.
template <class Views>
void all_gather_phase(Transport& net, const Views& chunks) {
  const int n = net.size(), rank = net.rank();
  const int previous = mod(rank - 1, n), next = mod(rank + 1, n);
  TensorView out = chunks[rank];
  for (int step = 0; step < n - 1; ++step) {
    const TensorView in = chunks[mod(rank - step - 1, n)];
    send_recv(net, out, next, in, previous);
    out = in;
  }
}

}  // namespace

void ring_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  if (net.size() == 1) return;
  const Chunks chunks{data, net.size()};
  reduce_scatter_phase(net, chunks, op);
  all_gather_phase(net, chunks);
}

// The inputs must stay as they are, so a sum travels in two boxes: one being sent while the other fills. A
// chunk starts its way at the rank after its owner and reaches the owner last.
void ring_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op) {
  const int n = net.size(), rank = net.rank();
  copy(out, ins[rank]);
  if (n == 1) return;
  const std::array boxes{net.scratch(largest(ins)), net.scratch(largest(ins))};
  TensorView leaving = ins[mod(rank - 1, n)];
  for (int step = 0; step < n - 1; ++step) {
    const int c = mod(rank - step - 2, n);
    const TensorView arriving = boxes[step % 2].of(ins[c]);
    Request got = net.irecv(arriving, mod(rank - 1, n));
    Request put = net.isend(leaving, mod(rank + 1, n));
    got.wait();
    if (c == rank)
      reduce(out, arriving, op);
    else
      reduce(arriving, ins[c], op);
    put.wait();
    leaving = arriving;
  }
}

void ring_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs) {
  copy(outs[net.rank()], in);
  all_gather_phase(net, outs);
}

}  // namespace dist
