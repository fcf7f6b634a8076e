#include "dist/collectives/algorithms.h"

#include <algorithm>
#include <array>

#include "dist/collectives/binomial.h"
#include "dist/collectives/chain.h"
#include "dist/collectives/dissemination.h"
#include "dist/collectives/flat.h"
#include "dist/collectives/pairwise.h"
#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/tree.h"
#include "dist/core/fail.h"

namespace dist {

namespace {

using Args = const CollectiveArgs&;

// L = ceil(log2 n); alpha, beta, gamma: seconds a message, a byte sent, a byte reduced. The headers have the
// details.
constexpr std::array table{
    AlgorithmEntry{OpKind::broadcast, "flat",
                   [](Transport& net, Args a) { flat_broadcast(net, a.out, a.root); },
                   "two or three ranks: (n-1)(alpha + beta S)"},
    AlgorithmEntry{OpKind::broadcast, "binomial",
                   [](Transport& net, Args a) { binomial_broadcast(net, a.out, a.root); },
                   "short data: L (alpha + beta S)"},
    AlgorithmEntry{OpKind::broadcast, "chain",
                   [](Transport& net, Args a) { chain_broadcast(net, a.out, a.root); },
                   "long data, m segments: (n+m-2)(alpha + beta S/m)"},

    AlgorithmEntry{OpKind::reduce, "flat",
                   [](Transport& net, Args a) { flat_reduce(net, a.out, a.op, a.root); },
                   "two or three ranks: (n-1)(alpha + beta S + gamma S)"},
    AlgorithmEntry{OpKind::reduce, "binomial",
                   [](Transport& net, Args a) { binomial_reduce(net, a.out, a.op, a.root); },
                   "more ranks: L (alpha + beta S + gamma S)"},

    AlgorithmEntry{OpKind::all_reduce, "recursive_doubling",
                   [](Transport& net, Args a) { recursive_doubling_all_reduce(net, a.out, a.op); },
                   "short data: log2 n (alpha + beta S + gamma S)"},
    AlgorithmEntry{OpKind::all_reduce, "ring",
                   [](Transport& net, Args a) { ring_all_reduce(net, a.out, a.op); },
                   "long data: 2(n-1) alpha + 2(n-1)/n beta S + (n-1)/n gamma S"},
    AlgorithmEntry{OpKind::all_reduce, "tree",
                   [](Transport& net, Args a) { tree_all_reduce(net, a.out, a.op); },
                   "many ranks, middling data: 2L alpha + 3 beta S + 2 gamma S, pipelined"},
    AlgorithmEntry{OpKind::all_reduce, "reduce_broadcast",
                   [](Transport& net, Args a) { reduce_broadcast_all_reduce(net, a.out, a.op); },
                   "the baseline: 2L (alpha + beta S) + L gamma S"},

    AlgorithmEntry{OpKind::scatter, "flat",
                   [](Transport& net, Args a) { flat_scatter(net, a.ins, a.out, a.root); },
                   "any counts: (n-1) alpha + (n-1)/n beta S"},
    AlgorithmEntry{OpKind::scatter, "binomial",
                   [](Transport& net, Args a) { binomial_scatter(net, a.ins, a.out, a.root); },
                   "short data, equal counts only: L alpha + (n-1)/n beta S"},

    AlgorithmEntry{OpKind::gather, "flat",
                   [](Transport& net, Args a) { flat_gather(net, a.in, a.outs, a.root); },
                   "any counts: (n-1) alpha + (n-1)/n beta S"},
    AlgorithmEntry{OpKind::gather, "binomial",
                   [](Transport& net, Args a) { binomial_gather(net, a.in, a.outs, a.root); },
                   "short data, equal counts only: L alpha + (n-1)/n beta S"},

    AlgorithmEntry{OpKind::all_gather, "ring",
                   [](Transport& net, Args a) { ring_all_gather(net, a.in, a.outs); },
                   "neighbours only: (n-1) alpha + (n-1)/n beta S"},
    AlgorithmEntry{OpKind::all_gather, "pairwise",
                   [](Transport& net, Args a) { pairwise_all_gather(net, a.in, a.outs); },
                   "a link between every pair: (n-1) alpha + (n-1)/n beta S"},

    AlgorithmEntry{OpKind::reduce_scatter, "ring",
                   [](Transport& net, Args a) { ring_reduce_scatter(net, a.ins, a.out, a.op); },
                   "neighbours only: (n-1) alpha + (n-1)/n (beta + gamma) S"},
    AlgorithmEntry{OpKind::reduce_scatter, "pairwise",
                   [](Transport& net, Args a) { pairwise_reduce_scatter(net, a.ins, a.out, a.op); },
                   "a link between every pair: (n-1) alpha + (n-1)/n (beta + gamma) S"},

    AlgorithmEntry{OpKind::all_to_all, "pairwise",
                   [](Transport& net, Args a) { pairwise_all_to_all(net, a.ins, a.outs); },
                   "any counts: (n-1) alpha + (n-1)/n beta S"},

    AlgorithmEntry{OpKind::barrier, "dissemination", [](Transport& net, Args) { dissemination_barrier(net); },
                   "any n: L alpha"},
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
