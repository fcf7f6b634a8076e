// The mismatch check (DIST_DEBUG=detail): before a collective runs, its ranks compare what they are about to
// do.
#pragma once

#include "dist/backend/operation.h"
#include "dist/check/finding.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/group_state.h"

namespace dist {

// What must be equal on all ranks of a collective; comparing it formats nothing.
struct Fingerprint {
  Fingerprint() = default;
  Fingerprint(const GroupState& group, const Operation& operation);
  bool operator==(const Fingerprint&) const = default;
  // "broadcast #7 (4 f32, root 2)", "all_gather #7 (4 f32) of transformer.h.0"
  std::string str() const;

  OpKind kind = OpKind::barrier;
  ReduceOp::Kind op = ReduceOp::Kind::sum;  // for reductions
  DType dtype = DType::u8;
  int root = -1;            // global rank; -1: no root
  std::int64_t count = -1;  // elements; -1: each rank has its own number
  std::uint64_t sequence = 0;
  std::string algorithm = {};  // the algorithm that the call names; empty: none
  std::string part = {};       // CallSite::part of a call that the library makes; empty: none
};

// D3 when the two differ in size or dtype only, else D2.
check::Code kind_of_difference(Fingerprint a, const Fingerprint& b);

// Error{mismatch} on every rank says which rank is in which collective, or which sizes do not fit;
// Error{timeout} names the ranks that did not come to a collective with this number. Blocks until all have
// arrived.
class MismatchCheck final : public CallObserver {
 public:
  void started(GroupState& group, const Operation& operation, const Plan& way) override;
};

}  // namespace dist
