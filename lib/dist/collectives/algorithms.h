// The table of all algorithms: `.algorithm = "ring"` and DIST_ALGO choose from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/collectives/cost/cost_model.h"
#include "dist/collectives/segments.h"
#include "dist/core/op_kind.h"
#include "dist/core/types.h"
#include "dist/core/view.h"
#include "dist/transport/transport.h"

namespace dist {

// Arguments of one collective, as views. Which of them are used, and their shapes:
//   broadcast       out: the data, in place; root
//   reduce          out: contribution, on the root also the result (unchanged on the others); op; root
//   all_reduce      out: in place; op
//   scatter         root: ins[i] for rank i; every rank: out; root
//   gather          in; root: outs[i] from rank i; root
//   all_gather      in; outs[i] from rank i (counts may differ between ranks, all ranks know all counts)
//   reduce_scatter  ins[i]: contribution to rank i; out; op (counts may differ, all ranks know all counts)
//   all_to_all      ins[i] to rank i; outs[i] from rank i (counts may differ)
//   barrier         nothing
// In place: `in` may be the same memory as outs[rank], and `out` the same as ins[rank]; otherwise inputs and
// outputs do not overlap. Inputs are not written. `op` is a base operation: avg and premul_sum have been
// taken apart before.
struct CollectiveArgs {
  TensorView in, out;
  std::span<const TensorView> ins, outs;
  ReduceOp op = ReduceOp::sum;
  int root = 0;                                        // group rank
  std::int64_t segment_bytes = default_segment_bytes;  // where data is sent in segments; equal on all ranks
};

using AlgorithmFunction = void (*)(Transport& net, const CollectiveArgs& args);

struct AlgorithmEntry {
  OpKind collective;
  std::string_view name;  // "ring"
  AlgorithmFunction run;
  std::string_view about;  // one line: when it is good, and its cost
  // The formula in its header (formulas.h), for two ranks or more. `bytes`: as for choose().
  double (*seconds)(const CostModel& model, const World& at, double bytes) = nullptr;
  // Works in the memory that the ranks map of each other (direct/), where they do: then `seconds` is the cost
  // of this. `run` is the same division of work by messages, for ranks that do not map it.
  bool direct = false;
  bool needs_equal_counts = false;  // for scatter, gather and all_to_all: refuses counts that differ
  bool is_baseline = false;         // for comparison only: never chosen
};

std::span<const AlgorithmEntry> algorithms();
// Its parts besides all_reduce, each in a file of its own.
std::span<const AlgorithmEntry> broadcast_and_reduce_rows();
std::span<const AlgorithmEntry>
list_rows();  // scatter, gather, all_gather, reduce_scatter, all_to_all, barrier
// Error{invalid_argument} lists the names that exist for this collective.
const AlgorithmEntry& find_algorithm(OpKind collective, std::string_view name);

// Which algorithm to run, and why (for DIST_LOG=info): among the algorithms that are correct for all
// arguments and possible in this situation, the one with the least cost; among equal ones the first in the
// table. A pure function of its arguments, so that all ranks choose the same when they pass the same ones.
// `bytes`: the data of broadcast, reduce and all_reduce, the sum of all_gather's outs and of reduce_scatter's
// ins; for scatter, gather and all_to_all, whose ranks know only their own parts, the choice does not depend
// on it. Error{internal}: not a collective; Error{invalid_argument}: fewer ranks or nodes than one, or more
// nodes than ranks.
struct Choice {
  std::string_view algorithm;
  std::string reason;  // one sentence with the figures
};
Choice choose(OpKind collective, std::size_t bytes, const World& at, const CostModel& model = {});

// All algorithms of the collective and the estimated cost of each, the cheapest first; those that choose()
// does not consider come last. 0 seconds on one rank. Throws the same errors as choose().
struct Estimate {
  const AlgorithmEntry* algorithm = nullptr;
  double seconds = 0;
  std::string_view not_considered;  // why choose() does not consider it; empty: it does
};
std::vector<Estimate> estimates(OpKind collective, std::size_t bytes, const World& at,
                                const CostModel& model = {});

}  // namespace dist
