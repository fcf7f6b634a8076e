// The table of all algorithms, by collective: name, how to run it, when it is good and its cost, and its
// formula. In front of it, the reduce that is made from an all-reduce; after it, find_algorithm().
#include "dist/collectives/algorithms.h"

#include <algorithm>
#include <array>

#include "dist/collectives/baselines.h"
#include "dist/collectives/binomial.h"
#include "dist/collectives/bruck.h"
#include "dist/collectives/chain.h"
#include "dist/collectives/cost/formulas.h"
#include "dist/collectives/dissemination.h"
#include "dist/collectives/double_binary_tree.h"
#include "dist/collectives/flat.h"
#include "dist/collectives/hierarchical.h"
#include "dist/collectives/pairwise.h"
#include "dist/collectives/rabenseifner.h"
#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/recursive_halving.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/ring_2d.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/scatter_all_gather.h"
#include "dist/collectives/tree.h"
#include "dist/core/fail.h"
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
constexpr std::array table{
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

    AlgorithmEntry{OpKind::all_reduce, "recursive_doubling",
                   [](Transport& net, Args a) { recursive_doubling_all_reduce(net, a.out, a.op); },
                   "small data: log2 n (alpha + beta S + gamma S)", formulas::recursive_doubling_all_reduce},
    AlgorithmEntry{OpKind::all_reduce, "ring",
                   [](Transport& net, Args a) { ring_all_reduce(net, a.out, a.op); },
                   "large data: 2(n-1) alpha + 2(n-1)/n beta S + (n-1)/n gamma S", formulas::ring_all_reduce},
    AlgorithmEntry{
        OpKind::all_reduce, "ring_segmented",
        [](Transport& net, Args a) { ring_segmented_all_reduce(net, a.out, a.op, a.segment_bytes); },
        "the ring in segments, larger data: down to 2(n-1)/n beta S", formulas::ring_segmented_all_reduce},
    AlgorithmEntry{
        OpKind::all_reduce, "ring_2d", [](Transport& net, Args a) { ring_2d_all_reduce(net, a.out, a.op); },
        "rows and columns of rings: 4 sqrt(n) alpha + 2 beta S + gamma S", formulas::ring_2d_all_reduce},
    AlgorithmEntry{OpKind::all_reduce, "hierarchical",
                   [](Transport& net, Args a) { hierarchical_all_reduce(net, a.out, a.op); },
                   "several nodes of g ranks: S/g bytes per rank between the nodes",
                   formulas::hierarchical_all_reduce},
    AlgorithmEntry{OpKind::all_reduce, "rabenseifner",
                   [](Transport& net, Args a) { rabenseifner_all_reduce(net, a.out, a.op); },
                   "n a power of two: 2 log2 n alpha + 2(n-1)/n beta S + (n-1)/n gamma S",
                   formulas::rabenseifner_all_reduce},
    AlgorithmEntry{OpKind::all_reduce, "tree",
                   [](Transport& net, Args a) { tree_all_reduce(net, a.out, a.op, a.segment_bytes); },
                   "many ranks, medium data: 2L alpha + 3 beta S, pipelined, sums partly overlapped",
                   formulas::tree_all_reduce},
    AlgorithmEntry{
        OpKind::all_reduce, "double_binary_tree",
        [](Transport& net, Args a) { double_binary_tree_all_reduce(net, a.out, a.op, a.segment_bytes); },
        "many ranks, large data: 2L alpha + 2 beta S, pipelined, sums partly overlapped",
        formulas::double_binary_tree_all_reduce},
    AlgorithmEntry{OpKind::all_reduce, "reduce_broadcast",
                   [](Transport& net, Args a) { reduce_broadcast_all_reduce(net, a.out, a.op); },
                   "the baseline: 2L (alpha + beta S) + L gamma S", formulas::reduce_broadcast_all_reduce,
                   false, false, true},
    AlgorithmEntry{OpKind::all_reduce, "parameter_server",
                   [](Transport& net, Args a) { parameter_server_all_reduce(net, a.out, a.op); },
                   "for comparison, rank 0 serves all: 2(n-1) beta S at its port",
                   formulas::parameter_server_all_reduce, false, false, true},
    AlgorithmEntry{OpKind::all_reduce, "naive_exchange",
                   [](Transport& net, Args a) { naive_exchange_all_reduce(net, a.out, a.op); },
                   "for comparison, every rank sends to all: (n-1)(alpha + beta S + gamma S)",
                   formulas::naive_exchange_all_reduce, false, false, true},
    AlgorithmEntry{
        OpKind::all_reduce, "one_shot",
        [](Transport& net, Args a) { naive_exchange_all_reduce(net, a.out, a.op); },
        "ranks that map each other, small data: each rank reads all, h per piece + n c S + (n-1) gamma S",
        formulas::one_shot_all_reduce, true},
    AlgorithmEntry{
        OpKind::all_reduce, "two_shot", [](Transport& net, Args a) { pairwise_all_reduce(net, a.out, a.op); },
        "ranks that map each other, large data: each rank reduces 1/n, 2 h + c S + (n-1)/n gamma S",
        formulas::two_shot_all_reduce, true},

    AlgorithmEntry{OpKind::scatter, "flat",
                   [](Transport& net, Args a) { flat_scatter(net, a.ins, a.out, a.root); },
                   "any counts: (n-1) alpha + (n-1)/n beta S", formulas::flat_scatter},
    AlgorithmEntry{OpKind::scatter, "binomial",
                   [](Transport& net, Args a) { binomial_scatter(net, a.ins, a.out, a.root); },
                   "small data, equal counts only: L alpha + (n-1)/n beta S", formulas::binomial_scatter,
                   false, true},
    AlgorithmEntry{
        OpKind::scatter, "direct", [](Transport& net, Args a) { flat_scatter(net, a.ins, a.out, a.root); },
        "ranks that map each other: each rank reads its part, 2 h + c S/n", formulas::direct_scatter, true},

    AlgorithmEntry{OpKind::gather, "flat",
                   [](Transport& net, Args a) { flat_gather(net, a.in, a.outs, a.root); },
                   "any counts: (n-1) alpha + (n-1)/n beta S", formulas::flat_scatter},
    AlgorithmEntry{OpKind::gather, "binomial",
                   [](Transport& net, Args a) { binomial_gather(net, a.in, a.outs, a.root); },
                   "small data, equal counts only: L alpha + (n-1)/n beta S", formulas::binomial_scatter,
                   false, true},
    AlgorithmEntry{
        OpKind::gather, "direct", [](Transport& net, Args a) { flat_gather(net, a.in, a.outs, a.root); },
        "ranks that map each other: each rank writes its part, 2 h + c S/n", formulas::direct_gather, true},

    AlgorithmEntry{OpKind::all_gather, "ring",
                   [](Transport& net, Args a) { ring_all_gather(net, a.in, a.outs); },
                   "neighbours only: (n-1) alpha + (n-1)/n beta S", formulas::ring_all_gather},
    AlgorithmEntry{OpKind::all_gather, "pairwise",
                   [](Transport& net, Args a) { pairwise_all_gather(net, a.in, a.outs); },
                   "a link between every pair: (n-1) alpha + (n-1)/n beta S", formulas::pairwise_all_gather},
    AlgorithmEntry{OpKind::all_gather, "bruck",
                   [](Transport& net, Args a) { bruck_all_gather(net, a.in, a.outs); },
                   "small data: L alpha + (n-1)/n beta S + a copy of S", formulas::bruck_all_gather},
    AlgorithmEntry{OpKind::all_gather, "recursive_doubling",
                   [](Transport& net, Args a) { recursive_doubling_all_gather(net, a.in, a.outs); },
                   "like bruck, between fixed pairs; n a power of two, otherwise bruck",
                   formulas::recursive_doubling_all_gather},
    AlgorithmEntry{OpKind::all_gather, "direct",
                   [](Transport& net, Args a) { pairwise_all_gather(net, a.in, a.outs); },
                   "ranks that map each other: each rank reads all, 2 h + (n-1)/n c S",
                   formulas::direct_all_gather, true},

    AlgorithmEntry{OpKind::reduce_scatter, "ring",
                   [](Transport& net, Args a) { ring_reduce_scatter(net, a.ins, a.out, a.op); },
                   "neighbours only: (n-1) alpha + (n-1)/n (beta + gamma) S", formulas::ring_reduce_scatter},
    AlgorithmEntry{OpKind::reduce_scatter, "pairwise",
                   [](Transport& net, Args a) { pairwise_reduce_scatter(net, a.ins, a.out, a.op); },
                   "a link between every pair: (n-1) alpha + (n-1)/n (beta + gamma) S",
                   formulas::pairwise_reduce_scatter},
    AlgorithmEntry{OpKind::reduce_scatter, "recursive_halving",
                   [](Transport& net, Args a) { halving_reduce_scatter(net, a.ins, a.out, a.op); },
                   "small data: log2 n alpha + (n-1)/n (beta + gamma) S + a copy of S",
                   formulas::halving_reduce_scatter},
    AlgorithmEntry{OpKind::reduce_scatter, "ring_2d",
                   [](Transport& net, Args a) { ring_2d_reduce_scatter(net, a.ins, a.out, a.op); },
                   "rows and columns of rings: 2 sqrt(n) alpha + (n-1)/n (beta + gamma) S + a copy of S",
                   formulas::ring_2d_reduce_scatter},
    AlgorithmEntry{OpKind::reduce_scatter, "direct",
                   [](Transport& net, Args a) { pairwise_reduce_scatter(net, a.ins, a.out, a.op); },
                   "ranks that map each other: each rank reduces its part, 2 h + (n-1)/n gamma S",
                   formulas::direct_reduce_scatter, true},

    AlgorithmEntry{OpKind::all_to_all, "pairwise",
                   [](Transport& net, Args a) { pairwise_all_to_all(net, a.ins, a.outs); },
                   "any counts: (n-1) alpha + (n-1)/n beta S", formulas::pairwise_all_gather},
    AlgorithmEntry{
        OpKind::all_to_all, "bruck", [](Transport& net, Args a) { bruck_all_to_all(net, a.ins, a.outs); },
        "small data, equal counts only: L alpha + L/2 beta S", formulas::bruck_all_to_all, false, true},
    AlgorithmEntry{OpKind::all_to_all, "direct",
                   [](Transport& net, Args a) { pairwise_all_to_all(net, a.ins, a.outs); },
                   "ranks that map each other: each rank reads its parts, 2 h + (n-1)/n c S",
                   formulas::direct_all_gather, true},

    AlgorithmEntry{OpKind::barrier, "dissemination", [](Transport& net, Args) { dissemination_barrier(net); },
                   "any n: L alpha", formulas::dissemination_barrier},
    AlgorithmEntry{OpKind::barrier, "direct", [](Transport& net, Args) { dissemination_barrier(net); },
                   "ranks that map each other: h", formulas::direct_barrier, true},
};

}  // namespace

std::span<const AlgorithmEntry> algorithms() { return table; }

const AlgorithmEntry& find_algorithm(OpKind collective, std::string_view name) {
  const auto found = std::ranges::find_if(
      table, [&](const AlgorithmEntry& e) { return e.collective == collective && e.name == name; });
  if (found != table.end()) return *found;
  std::string known;
  for (const AlgorithmEntry& e : table)
    if (e.collective == collective) known += fmt::format("{}{}", known.empty() ? "" : ", ", e.name);
  fail(Errc::invalid_argument, "{} has no algorithm \"{}\"; it has: {}", dist::name(collective), name,
       known.empty() ? "none, it is not a collective" : known);
}

}  // namespace dist
