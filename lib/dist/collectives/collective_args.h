// The arguments of a collective in the form in which algorithms take them.
#pragma once

#include <cstdint>
#include <span>

#include "dist/core/types.h"
#include "dist/core/view.h"

namespace dist {

// The size of a segment: the unit in which some algorithms send large data (segments.h). Large enough that a
// segment's transfer time hides its latency, small enough that it stays in a core's cache.
inline constexpr std::int64_t default_segment_bytes = 128 * 1024;

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

}  // namespace dist
