#include "dist/collectives/scatter_all_gather.h"

#include <algorithm>
#include <vector>

#include "dist/collectives/chunks.h"
#include "dist/collectives/halving.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/trees.h"

namespace dist {

namespace {

// Down the binomial tree: afterwards each rank has its own chunk, and those of the subtree below it.
void scatter_down(Transport& net, const Chunks& chunks, int root) {
  const BinomialNode node = binomial_node(net.rank(), root, net.size());
  const int place = mod(net.rank() - root, net.size());
  const auto subtree = [&](int first, int span) { return chunks.range(first, first + span); };
  if (!node.is_root()) net.irecv(subtree(place, node.span), node.parent).wait();
  std::vector<Request> puts;
  for (const auto& child : node.children)
    puts.push_back(net.isend(subtree(place + child.offset, child.span), child.rank));
  for (Request& put : puts) put.wait();
}

// `count` chunks from place `first` on. A run that goes past the end is two pieces; the second may be empty.
struct Run {
  Run(const Chunks& chunks, int first, int count) {
    const int n = chunks.size(), beyond = std::max(0, first + count - n);
    pieces[0] = chunks.range(first, first + count - beyond);
    pieces[1] = chunks.range(0, beyond);
    used = beyond > 0 ? 2 : 1;
  }
  TensorView pieces[2];
  int used;
};

// Bruck's rounds, where the chunks lie: a rank that has `have` chunks gets the next as many.
void gather_in_rounds(Transport& net, const Chunks& chunks, int root) {
  const int n = net.size(), rank = net.rank(), place = mod(rank - root, n);
  if (floor_pow2(n) == n)  // in fixed pairs no run goes past the end
    return Halving(net, root).all_gather([&](int first, int last) { return chunks.range(first, last); });
  for (int have = 1; have < n; have *= 2) {
    const int more = std::min(have, n - have);
    const Run in(chunks, mod(place + have, n), more), out(chunks, place, more);
    std::vector<Request> both;
    for (int i = 0; i < in.used; ++i) both.push_back(net.irecv(in.pieces[i], mod(rank + have, n)));
    for (int i = 0; i < out.used; ++i) both.push_back(net.isend(out.pieces[i], mod(rank - have, n)));
    for (Request& each : both) each.wait();
  }
}

}  // namespace

void scatter_all_gather_broadcast(Transport& net, TensorView data, int root) {
  const Chunks chunks{data, net.size()};  // chunk i for place i, counted from the root
  scatter_down(net, chunks, root);
  ring_all_gather_chunks(net, ring_of_all(net, root), chunks);
}

void scatter_bruck_broadcast(Transport& net, TensorView data, int root) {
  const Chunks chunks{data, net.size()};
  scatter_down(net, chunks, root);
  gather_in_rounds(net, chunks, root);
}

}  // namespace dist
