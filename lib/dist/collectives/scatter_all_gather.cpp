#include "dist/collectives/scatter_all_gather.h"

#include <vector>

#include "dist/collectives/chunks.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/trees.h"

namespace dist {

void scatter_all_gather_broadcast(Transport& net, TensorView data, int root) {
  const BinomialNode node = binomial_node(net.rank(), root, net.size());
  const Ring ring = ring_of_all(net, root);
  const Chunks chunks{data, net.size()};  // chunk i for place i, counted from the root
  const auto subtree = [&](int place, int span) { return chunks.range(place, place + span); };
  if (!node.is_root()) net.irecv(subtree(ring.place, node.span), node.parent).wait();
  std::vector<Request> puts;
  for (const auto& child : node.children)
    puts.push_back(net.isend(subtree(ring.place + child.offset, child.span), child.rank));
  for (Request& put : puts) put.wait();
  ring_all_gather_chunks(net, ring, chunks);
}

}  // namespace dist
