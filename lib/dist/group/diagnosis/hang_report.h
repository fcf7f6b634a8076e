// What the snapshots of all ranks say together, when an operation of one of them has failed: D1, D2 or D3,
// and only what is certain.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "dist/check/finding.h"
#include "dist/group/diagnosis/snapshot.h"

namespace dist {

// Pictures of all ranks, by rank. They were not taken in one moment, but within a span of time: what is
// younger than `settled` may be seen by one rank and not yet by another, so nothing is concluded from it.
struct JobSnapshot {
  std::span<const Snapshot> snapshots;
  int rank = 0;              // whose operation has failed
  std::uint64_t record = 0;  // and which
  std::chrono::milliseconds settled{};
};

// D2: ranks of one group are in different collectives of the same number. Else D1: the failed operation's
// rank stands still, and so do those it waits for, in a cycle or for a rank that has ended. Nothing when some
// rank may still go on: one that is silent, or in no operation, or whose part is under way already. (A thread
// of a rank that is in no operation while another one waits is not seen.)
std::optional<check::Finding> explain_stall(const JobSnapshot& job);

// D2 as above.
std::optional<check::Finding> find_different_collectives(const JobSnapshot& job);

// D3: the failed operation is a message, and its other side does not fit.
std::optional<check::Finding> find_misfit(const JobSnapshot& job);

}  // namespace dist
