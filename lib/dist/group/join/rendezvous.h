// Rendezvous: how the ranks of a job find each other through a store, and how they part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/group/join/environment.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"
#include "dist/store/store.h"
#include "dist/store/tcp_store.h"

namespace dist {

// What a rank knows once all have joined.
struct Job {
  int rank = 0, world_size = 1;
  int local_rank = 0, local_world_size = 1;  // among the ranks of this host
  std::vector<int> hosts;  // host number of each rank (not kept for virtual ranks): 0 is rank 0's, then as
                           // they first appear
  int restart_count = 0;   // the launcher's
  int generation = 0;      // counts joinings, from 0
  std::string launcher;    // "distrun", "env", "spawn", "tcp", "file", "store", ...
  std::string token;       // proves to other ranks that this one belongs to the job; new each time
  Timeout timeout = default_timeout;    // for operations: InitOptions, else DIST_TIMEOUT, else 30 minutes
  bool kept_by_rank_0 = false;          // whether rank 0 keeps the store; otherwise it outlives the job
  std::unique_ptr<StoreServer> server;  // on rank 0, if it keeps the store
  std::shared_ptr<Store> base;          // the store itself
  std::shared_ptr<Store> store;         // the same, prefixed for this restart and generation
};

// Blocks until all ranks have joined. InitOptions take precedence; for env://, spawn's RankContext::launch
// and RankContext::store take precedence over the environment. Every rank gets the same verdict:
//   Error{timeout}: these ranks did not come (the first rank whose time is up ends the wait for all);
//   Error{mismatch}: two ranks differ in world size, or two processes claim one rank;
//   Error{connection}: the store cannot be reached, or was lost.
// Contradictory options or environment are Error{invalid_argument|not_initialized} before anything moves.
// After leave(), or after an error, the same ranks may call it again.
Job rendezvous(const InitOptions& options, RankContext& context, const GetEnv& get_env = process_environment,
               CallSite where = CallSite::current());

// For launchers: 32 random hexadecimal digits, for a token or an address that no other job has.
std::string random_word();

// For launchers: a rank has ended. Ranks that wait in a joining that can never be complete now, or that try
// to join again, get Error{peer_failed} with this text. Does nothing when the store cannot be reached.
void cancel_rendezvous(const std::shared_ptr<Store>& base, int restart_count,
                       const std::string& why) noexcept;
// For launchers: one of the `world_size` ranks has ended in order. Ranks that wait for it in a joining to
// which it has not come, or that begin one, get Error{peer_failed} naming it.
void note_end(const std::shared_ptr<Store>& base, int restart_count, int rank, int world_size) noexcept;

// How long leave() waits on rank 0 for ranks that are alive and still busy.
inline constexpr Timeout leave_patience = std::chrono::seconds(10);

// Says goodbye. Rank 0, when it keeps the store, waits until all others have said so or have died (a dead
// rank is noticed at once, one behind a broken network at the deadline); afterwards `job` holds no store any
// more.
void leave(Job& job, Deadline deadline) noexcept;

}  // namespace dist
