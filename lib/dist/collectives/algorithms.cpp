// The table of all algorithms: the rows of all_reduce, and its parts in broadcast_and_reduce_rows.cpp and
// list_rows.cpp.
#include "dist/collectives/algorithms.h"

#include <algorithm>
#include <array>

#include "dist/collectives/baselines.h"
#include "dist/collectives/binomial.h"
#include "dist/collectives/cost/formulas.h"
#include "dist/collectives/double_binary_tree.h"
#include "dist/collectives/hierarchical.h"
#include "dist/collectives/pairwise.h"
#include "dist/collectives/rabenseifner.h"
#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/ring_2d.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/tree.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

using Args = const CollectiveArgs&;

// L = ceil(log2 n); alpha: seconds per message, beta: per byte sent, gamma: per byte reduced. The headers
// have the details.
constexpr std::array of_all_reduce{
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

};

}  // namespace

std::span<const AlgorithmEntry> algorithms() {
  static const auto table = [] {
    std::vector<AlgorithmEntry> rows;
    for (const auto part :
         {broadcast_and_reduce_rows(), std::span<const AlgorithmEntry>(of_all_reduce), list_rows()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return table;
}

const AlgorithmEntry& find_algorithm(OpKind collective, std::string_view name) {
  const auto table = algorithms();
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
