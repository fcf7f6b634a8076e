// What the snapshots of all ranks prove together, when an operation of one of them has failed: D1, D2 or D3,
// and only what is certain.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "dist/check/finding.h"
#include "dist/group/diagnosis/snapshot.h"

namespace dist {

// Snapshots of all ranks, by rank. They were not taken at one moment, but within a span of time: what is
// younger than `settled` may be visible to one rank and not yet to another, so nothing is concluded from it.
struct JobSnapshot {
  std::span<const Snapshot> snapshots;
  int rank = 0;              // the rank whose operation has failed
  std::uint64_t record = 0;  // the failed operation
  std::chrono::milliseconds settled{};
};

// D2: ranks of one group are in different collectives with the same number. Otherwise D1: the failed
// operation's rank is blocked, and so are those it waits for, in a cycle or by a rank that has ended. nullopt
// when some rank may still go on: a rank that is silent, or in no operation, or whose part is already under
// way. (A thread of a rank that is in no operation while another thread waits is not seen.)
std::optional<check::Finding> explain_stall(const JobSnapshot& job);

// Only D2, as above.
std::optional<check::Finding> find_different_collectives(const JobSnapshot& job);

// D3: the failed operation is a message, and its other side does not fit.
std::optional<check::Finding> find_misfit(const JobSnapshot& job);

}  // namespace dist
