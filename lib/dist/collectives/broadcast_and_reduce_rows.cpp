// The algorithms of broadcast and reduce. In front, the reduce that is made from an all-reduce.
#include <array>

#include "dist/collectives/algorithms.h"
#include "dist/collectives/binomial.h"
#include "dist/collectives/chain.h"
#include "dist/collectives/cost/formulas.h"
#include "dist/collectives/double_binary_tree.h"
#include "dist/collectives/flat.h"
#include "dist/collectives/rabenseifner.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/ring_2d.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/scatter_all_gather.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

using Args = const CollectiveArgs&;

// A reduce made from an all-reduce of a copy, so that only the root's data changes: with many ranks that are
// not a power of two, the rings are faster than every algorithm made for reduce.
template <class AllReduce>
void reduce_by(Transport& net, Args a, const AllReduce& all_reduce) {
  if (net.rank() == a.root) return all_reduce(a.out);
  const Scratch own = net.scratch(a.out);
  copy(own.all(), a.out);
  all_reduce(own.all());
}

template <auto all_reduce>
double reduce_by_seconds(const CostModel& model, const World& at, double bytes) {
  return all_reduce(model, at, bytes) + model.copy * bytes;
}

// L = ceil(log2 n); alpha: seconds per message, beta: per byte sent, gamma: per byte reduced. The headers
// have the details.
constexpr std::array of_broadcast_and_reduce{
    AlgorithmEntry{OpKind::broadcast, "flat",
                   [](Transport& net, Args a) { flat_broadcast(net, a.out, a.root); },
                   "two or three ranks: (n-1)(alpha + beta S)", formulas::flat_broadcast},
    AlgorithmEntry{OpKind::broadcast, "binomial",
                   [](Transport& net, Args a) { binomial_broadcast(net, a.out, a.root); },
                   "small data: L (alpha + beta S)", formulas::binomial_broadcast},
    AlgorithmEntry{OpKind::broadcast, "chain",
                   [](Transport& net, Args a) { chain_broadcast(net, a.out, a.root, a.segment_bytes); },
                   "large data, m segments: (n+m-2)(alpha + beta S/m)", formulas::chain_broadcast},
    AlgorithmEntry{OpKind::broadcast, "scatter_all_gather",
                   [](Transport& net, Args a) { scatter_all_gather_broadcast(net, a.out, a.root); },
                   "large data: (L + n-1) alpha + 2(n-1)/n beta S", formulas::scatter_all_gather_broadcast},
    AlgorithmEntry{OpKind::broadcast, "scatter_bruck",
                   [](Transport& net, Args a) { scatter_bruck_broadcast(net, a.out, a.root); },
                   "many ranks: 2L alpha + 2(n-1)/n beta S", formulas::scatter_bruck_broadcast},
    AlgorithmEntry{OpKind::broadcast, "direct",
                   [](Transport& net, Args a) { flat_broadcast(net, a.out, a.root); },
                   "ranks that map each other: each rank copies 1/n, 2 h + (n-1)/n c S",
                   formulas::direct_broadcast, true},

    AlgorithmEntry{OpKind::reduce, "flat",
                   [](Transport& net, Args a) { flat_reduce(net, a.out, a.op, a.root); },
                   "two or three ranks: (n-1)(alpha + beta S + gamma S)", formulas::flat_reduce},
    AlgorithmEntry{OpKind::reduce, "binomial",
                   [](Transport& net, Args a) { binomial_reduce(net, a.out, a.op, a.root); },
                   "small data: L (alpha + beta S + gamma S)", formulas::binomial_reduce},
    AlgorithmEntry{OpKind::reduce, "scatter_gather",
                   [](Transport& net, Args a) { rabenseifner_reduce(net, a.out, a.op, a.root); },
                   "large data: 2L alpha + 2(n-1)/n beta S + (n-1)/n gamma S", formulas::rabenseifner_reduce},
    AlgorithmEntry{OpKind::reduce, "chain",
                   [](Transport& net, Args a) { chain_reduce(net, a.out, a.op, a.root, a.segment_bytes); },
                   "large data, m segments: (n+m-2)(alpha + beta S/m + gamma S/m)", formulas::chain_reduce},
    AlgorithmEntry{OpKind::reduce, "ring",
                   [](Transport& net, Args a) {
                     reduce_by(net, a, [&](TensorView data) { ring_all_reduce(net, data, a.op); });
                   },
                   "n not a power of two: 2(n-1) alpha + 2(n-1)/n beta S + (n-1)/n gamma S + a copy of S",
                   reduce_by_seconds<formulas::ring_all_reduce>},
    AlgorithmEntry{OpKind::reduce, "ring_segmented",
                   [](Transport& net, Args a) {
                     reduce_by(net, a, [&](TensorView data) {
                       ring_segmented_all_reduce(net, data, a.op, a.segment_bytes);
                     });
                   },
                   "the ring in segments: down to 2(n-1)/n beta S + a copy of S",
                   reduce_by_seconds<formulas::ring_segmented_all_reduce>},
    AlgorithmEntry{OpKind::reduce, "ring_2d",
                   [](Transport& net, Args a) {
                     reduce_by(net, a, [&](TensorView data) { ring_2d_all_reduce(net, data, a.op); });
                   },
                   "rows and columns of rings: 4 sqrt(n) alpha + 2 beta S + gamma S + a copy of S",
                   reduce_by_seconds<formulas::ring_2d_all_reduce>},
    AlgorithmEntry{OpKind::reduce, "double_binary_tree",
                   [](Transport& net, Args a) {
                     reduce_by(net, a, [&](TensorView data) {
                       double_binary_tree_all_reduce(net, data, a.op, a.segment_bytes);
                     });
                   },
                   "many ranks, large data: 2L alpha + 2 beta S, pipelined, + a copy of S",
                   reduce_by_seconds<formulas::double_binary_tree_all_reduce>},
    AlgorithmEntry{OpKind::reduce, "direct",
                   [](Transport& net, Args a) { flat_reduce(net, a.out, a.op, a.root); },
                   "ranks that map each other: each rank reduces 1/n, 2 h + (n-1)/n gamma S",
                   formulas::direct_reduce, true},

};

}  // namespace

std::span<const AlgorithmEntry> broadcast_and_reduce_rows() { return of_broadcast_and_reduce; }

}  // namespace dist
