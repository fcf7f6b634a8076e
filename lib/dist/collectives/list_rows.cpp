// The algorithms of the collectives of lists, and of barrier.
#include <array>

#include "dist/collectives/algorithms.h"
#include "dist/collectives/binomial.h"
#include "dist/collectives/bruck.h"
#include "dist/collectives/cost/formulas.h"
#include "dist/collectives/dissemination.h"
#include "dist/collectives/flat.h"
#include "dist/collectives/pairwise.h"
#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/recursive_halving.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/ring_2d.h"

namespace dist {
namespace {

using Args = const CollectiveArgs&;

// L = ceil(log2 n); alpha: seconds per message, beta: per byte sent, gamma: per byte reduced. The headers
// have the details.
constexpr std::array of_lists{
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

std::span<const AlgorithmEntry> list_rows() { return of_lists; }

}  // namespace dist
