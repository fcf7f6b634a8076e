// Every algorithm of this folder as a table: what `.algorithm = "ring"` and DIST_ALGO choose from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/op_kind.h"
#include "dist/core/types.h"
#include "dist/core/view.h"
#include "dist/transport/transport.h"

namespace dist {

// Arguments of one collective, as views. Which of them are used, and their shapes:
//   broadcast       out: the data, in place; root
//   reduce          out: contribution, on the root also the result (elsewhere unchanged); op; root
//   all_reduce      out: in place; op
//   scatter         root: ins[i] for rank i; every rank: out; root
//   gather          in; root: outs[i] from rank i; root
//   all_gather      in; outs[i] from rank i (counts may differ between ranks, all ranks know all counts)
//   reduce_scatter  ins[i]: contribution to rank i; out; op (counts may differ, all ranks know all counts)
//   all_to_all      ins[i] to rank i; outs[i] from rank i (counts may differ)
//   barrier         nothing
// In place: `in` may be the very memory of outs[rank], `out` that of ins[rank]; otherwise inputs and outputs
// do not overlap. Inputs are not written. `op` is a base operation: avg and premul_sum have been taken apart
// before.
struct CollectiveArgs {
  TensorView in, out;
  std::span<const TensorView> ins, outs;
  ReduceOp op = ReduceOp::sum;
  int root = 0;  // group rank
};

using AlgorithmFunction = void (*)(Transport& net, const CollectiveArgs& args);

struct AlgorithmEntry {
  OpKind collective;
  std::string_view name;  // "ring"
  AlgorithmFunction run;
  std::string_view about;  // one line: when it is good, and its cost
};

std::span<const AlgorithmEntry> algorithms();
// Error{invalid_argument} lists the names that exist for this collective.
const AlgorithmEntry& find_algorithm(OpKind collective, std::string_view name);

// What to run, and why (for DIST_LOG=info). A pure function of its arguments, so that all ranks choose alike
// when they pass the same `bytes`: the data of broadcast, reduce and all_reduce, the sum of all_gather's outs
// and of reduce_scatter's ins; scatter, gather and all_to_all, whose ranks know only their own shares, do not
// look at it.
struct Choice {
  std::string_view algorithm;
  std::string reason;
};
Choice choose(OpKind collective, std::size_t bytes, int ranks);

}  // namespace dist
