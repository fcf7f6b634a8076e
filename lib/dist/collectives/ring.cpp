#include "dist/collectives/ring.h"

#include <array>

#include "dist/collectives/chunks.h"
#include "dist/core/kernels.h"

namespace dist {

namespace {

// In step s, chunk place-s is passed on, which has just arrived; in the first step, this rank's own.
template <class Views>
void all_gather(Transport& net, const Ring& ring, const TensorView& own, const Views& chunks) {
  TensorView out = own;
  for (int step = 0; step < ring.size - 1; ++step) {
    const TensorView in = chunks[mod(ring.place - step - 1, ring.size)];
    send_recv(net, out, ring.next, in, ring.previous);
    out = in;
  }
}

}  // namespace

Ring ring_of_all(const Transport& net, int first) {
  const int n = net.size(), rank = net.rank();
  return {.size = n, .place = mod(rank - first, n), .previous = mod(rank - 1, n), .next = mod(rank + 1, n)};
}

// In step s a rank passes on chunk place-s-1, to which it has just added its part, while chunk place-s-2
// arrives.
void ring_reduce_scatter_chunks(Transport& net, const Ring& ring, const Chunks& chunks, ReduceOp op) {
  if (ring.size == 1) return;
  const Scratch inbox = net.scratch(largest(chunks));
  TensorView out = chunks[mod(ring.place - 1, ring.size)];
  for (int step = 0; step < ring.size - 1; ++step) {
    const TensorView acc = chunks[mod(ring.place - step - 2, ring.size)];
    const TensorView arriving = inbox.of(acc);
    Request got = net.irecv(arriving, ring.previous);
    Request put = net.isend(out, ring.next);
    got.wait();
    reduce(acc, arriving, op);
    put.wait();
    out = acc;
  }
}

void ring_all_gather_chunks(Transport& net, const Ring& ring, const Chunks& chunks) {
  all_gather(net, ring, chunks[ring.place], chunks);
}

void ring_all_reduce(Transport& net, const Ring& ring, TensorView data, ReduceOp op) {
  const Chunks chunks{data, ring.size};
  ring_reduce_scatter_chunks(net, ring, chunks, op);
  ring_all_gather_chunks(net, ring, chunks);
}

void ring_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  ring_all_reduce(net, ring_of_all(net), data, op);
}

// The inputs must stay unchanged, so a sum travels in two buffers: one is being sent while the other one
// fills. A chunk starts at the rank after its owner and reaches the owner last.
void ring_reduce_scatter(Transport& net, const Ring& ring, std::span<const TensorView> ins, TensorView out,
                         ReduceOp op) {
  const int n = ring.size, place = ring.place;
  copy(out, ins[place]);
  if (n == 1) return;
  const std::array boxes{net.scratch(largest(ins)), net.scratch(largest(ins))};
  TensorView leaving = ins[mod(place - 1, n)];
  for (int step = 0; step < n - 1; ++step) {
    const int c = mod(place - step - 2, n);
    const TensorView arriving = boxes[step % 2].of(ins[c]);
    Request got = net.irecv(arriving, ring.previous);
    Request put = net.isend(leaving, ring.next);
    got.wait();
    if (c == place)
      reduce(out, arriving, op);
    else
      reduce(arriving, ins[c], op);
    put.wait();
    leaving = arriving;
  }
}

void ring_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op) {
  ring_reduce_scatter(net, ring_of_all(net), ins, out, op);
}

void ring_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs) {
  all_gather(net, ring_of_all(net), in, outs);
  copy(outs[net.rank()], in);  // last, because the send has brought `in` into the caches
}

}  // namespace dist
