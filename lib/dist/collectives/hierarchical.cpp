#include "dist/collectives/hierarchical.h"

#include <algorithm>
#include <map>
#include <vector>

#include "dist/collectives/ring_2d.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

// What a rank must know about the nodes.
struct NodesSeenFromOne {
  std::vector<int> ranks;  // the ranks of its node, ascending
  int place = 0;           // its index among them
  int width = 0;           // g: the number of ranks of the smallest node
  std::vector<int> peers;  // the ranks at index `place` of all nodes, ascending
  int node = 0;            // its index among the peers
};

NodesSeenFromOne look_around(const Transport& net) {
  const int mine = net.node_of(net.rank());
  NodesSeenFromOne seen;
  for (int rank = 0; rank < net.size(); ++rank) {
    if (net.node_of(rank) != mine) continue;
    if (rank == net.rank()) seen.place = static_cast<int>(seen.ranks.size());
    seen.ranks.push_back(rank);
  }
  std::map<int, int> found;  // by node: the number of its ranks so far
  for (int rank = 0; rank < net.size(); ++rank) {
    const int node = net.node_of(rank), index = found[node]++;
    if (index != seen.place) continue;
    if (node == mine) seen.node = static_cast<int>(seen.peers.size());
    seen.peers.push_back(rank);
  }
  seen.width = net.size();
  for (const auto& [node, ranks] : found) seen.width = std::min(seen.width, ranks);
  return seen;
}

Ring ring_among(const std::vector<int>& ranks, int size, int place) {
  const auto at = [&](int i) { return ranks[static_cast<std::size_t>(mod(i, size))]; };
  return {.size = size, .place = place, .previous = at(place - 1), .next = at(place + 1)};
}

// Reduces what the ranks beyond g hand over.
void collect(Transport& net, const std::vector<int>& beyond, TensorView data, ReduceOp op) {
  if (beyond.empty()) return;
  const Scratch inbox = net.scratch(data);
  for (const int rank : beyond) {
    net.irecv(inbox.all(), rank).wait();
    reduce(data, inbox.all(), op);
  }
}

void give_back(Transport& net, const std::vector<int>& beyond, TensorView data) {
  std::vector<Request> puts;
  for (const int rank : beyond) puts.push_back(net.isend(data, rank));
  for (Request& put : puts) put.wait();
}

}  // namespace

void hierarchical_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const NodesSeenFromOne nodes = look_around(net);
  if (nodes.place >= nodes.width) {
    const int within = nodes.ranks[static_cast<std::size_t>(nodes.place % nodes.width)];
    net.isend(data, within).wait();
    net.irecv(data, within).wait();
    return;
  }
  std::vector<int> beyond;
  for (std::size_t i = static_cast<std::size_t>(nodes.place + nodes.width); i < nodes.ranks.size();
       i += static_cast<std::size_t>(nodes.width))
    beyond.push_back(nodes.ranks[i]);
  collect(net, beyond, data, op);
  two_ring_all_reduce(net, ring_among(nodes.ranks, nodes.width, nodes.place),
                      ring_among(nodes.peers, static_cast<int>(nodes.peers.size()), nodes.node), data, op);
  give_back(net, beyond, data);
}

}  // namespace dist
