// Which algorithm a collective runs: the call's own `.algorithm`, else what DIST_ALGO says, else choose().
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "dist/backend/operation.h"
#include "dist/collectives/algorithms.h"

namespace dist {

// One per group. Every rank gets the same answer, because it depends only on what all ranks know. Not
// thread-safe.
class AlgorithmChooser {
 public:
  // `dist_algo`: "all_reduce:ring,broadcast:chain" (underscores may be left out); empty for none.
  // Error{invalid_argument} quotes the part that is wrong and lists what exists.
  AlgorithmChooser(const World& at, const CostModel* costs, std::string_view dist_algo);

  // The algorithm that the call or DIST_ALGO names; null: the choice is left to choose().
  const AlgorithmEntry* asked_for(const Operation& operation) const;
  // World::peers_mapped is ignored here, because it becomes known later. `mapped`: whether the ranks map each
  // other's memory.
  const AlgorithmEntry& pick(const Operation& operation, bool mapped) const;
  // For the algorithms that send in segments.
  std::int64_t segment_bytes() const { return static_cast<std::int64_t>(costs().segment); }

 private:
  struct Remembered {
    OpKind kind = OpKind::barrier;
    std::size_t bytes = 0;
    bool mapped = false;
    const AlgorithmEntry* entry = nullptr;
  };
  CostModel costs() const { return costs_ ? *costs_ : CostModel{}; }
  const AlgorithmEntry& choose_and_log(OpKind kind, std::size_t bytes, bool mapped) const;

  World at_;
  const CostModel* costs_;  // null: the defaults
  std::array<const AlgorithmEntry*, op_kind_count> from_environment_;
  mutable std::array<Remembered, 16>
      remembered_{};  // choose() also words its reason, which is too slow for every call
};

// The size that decides, in bytes, as every rank knows it. 0 for scatter, gather and all_to_all: there a rank
// knows only its own part, and parts may differ.
std::size_t deciding_bytes(const Operation& operation);

}  // namespace dist
