// What a ProcessGroup handle points to: this rank's part of one group.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/core/deadline.h"
#include "dist/core/forks.h"
#include "dist/core/gate.h"
#include "dist/store/store.h"

namespace dist {

class JobState;

struct GroupState : std::enable_shared_from_this<GroupState> {
  // What all members agree on.
  struct Identity {
    std::string name;           // unique in the job
    std::uint32_t context = 0;  // in message headers
    Members ranks;
    std::string backend;  // "auto" until the ranks have exchanged what they have
    std::string asked;    // in a simulation: the backend that the program names; empty: none
    Timeout timeout = default_timeout;
  };
  GroupState(Identity of, int my_global_rank);

  int size() const { return identity.ranks.size(); }
  int group_rank_of(int global) const { return identity.ranks.group_rank_of(global); }  // -1: not a member
  int global_rank_of(int group_rank) const { return identity.ranks[group_rank]; }
  // Unique in the job: groups with equal context numbers have no common member.
  std::pair<std::uint32_t, int> key() const { return {identity.context, global_rank_of(0)}; }
  bool is_own() const { return forks == forks_before(); }  // false: a forked child has inherited it
  void finish_pending();  // waits for what was submitted; logs the receives that it gives up

  Identity identity;
  const int global_rank;
  const int rank;                              // in this group, -1 for a non-member
  const std::uint32_t forks = forks_before();  // forks_before() when it was made
  Gate gate;                                   // open while calls may use what follows
  JobState* job = nullptr;                     // null once the group was destroyed
  std::unique_ptr<OperationObserver> observer;
  std::unique_ptr<Backend> backend;        // members only; after observer: destroyed before it
  std::uint32_t steps_given_up = 0;        // by this rank (given_up.h)
  std::uint64_t collectives = 0;           // how many were issued: the next one's sequence number
  std::atomic<bool> in_collective{false};  // whether a thread issues one, or is in one
  std::atomic<std::uint64_t> messages{0};
  std::uint64_t control_calls = 0;  // counts new_group, split_group and monitored_barrier
  std::uint64_t models = 0;         // counts what was made of models along this group (parallel/replicas.h)
  // What the backend last said that it supports, by kind, as signatures of call.cpp: the next call mostly has
  // the same one.
  std::array<std::atomic<std::uint32_t>, op_kind_count> supported{};
};

}  // namespace dist
