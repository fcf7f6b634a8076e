// Rank context: what "this rank" means on the current thread. A rank that is a process has one for the whole
// process; ranks that are threads or fibers have one each. The default group is in it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dist/core/gate.h"
#include "dist/group/process_group.h"

namespace dist {

class VirtualWorld;

// What the launcher says about a rank.
struct LaunchInfo {
  int rank = 0, world_size = 1;
  int local_rank = -1, local_world_size = -1;  // -1: the launcher did not say; rendezvous finds out
  int group_rank = 0;                          // the number of this node
  std::string
      store_address;  // where the store is: "tcp://10.0.0.1:29500", "unix://@..."; empty: a job of one
  bool store_is_external = false;  // the launcher keeps the store; otherwise rank 0 does
  std::string token;               // the job's token
  std::string launcher;            // "distrun", "torchrun", "mpirun", "srun", "env", "spawn"
  int restart_count = 0;
};

struct RankContext {
  // For a thread that joins or leaves its job or destroys a group: the rank's threads do that one at a time.
  std::unique_lock<std::mutex> turn();
  std::unique_lock<std::mutex> try_turn();  // owns nothing when another thread has the turn

  Gate gate;                         // open while the rank is in a job and calls may use the next
  ProcessGroup default_group;        // and `job`, below
  std::optional<LaunchInfo> launch;  // set by spawn: init_process_group() needs no environment then
  std::shared_ptr<Store> store;      // set by spawn for threads
  std::shared_ptr<VirtualWorld> virtual_world;  // for a simulated rank
  int generation = 0;         // how often this rank has tried to join a job; kept by rendezvous()
  std::shared_ptr<void> job;  // made by init_process_group, ended by destroy_process_group

 private:
  std::mutex turn_;
};

// The context of this thread if it was given one, otherwise that of the process.
RankContext& rank_context();
RankContext& process_rank_context();
// Makes a new context for the process. What was in the previous one is left alone, not destroyed.
RankContext& renew_process_rank_context();

// Whether this thread does not belong to a rank, although other threads of this process do: it was made by a
// rank, where ranks are threads or simulated.
bool is_beside_ranks();

// Gives this thread a context of its own while the guard lives (for spawned threads; the simulator swaps
// contexts).
class RankContextGuard {
 public:
  explicit RankContextGuard(RankContext& context);
  ~RankContextGuard();
  RankContextGuard(const RankContextGuard&) = delete;
  RankContextGuard& operator=(const RankContextGuard&) = delete;

 private:
  void* before_;
  bool is_process_;
};

// Ends this rank's part in its job without waiting for anything: pending operations of this rank end with
// Error{aborted}. With a reason ("an exception") this rank has failed, and every operation of the others that
// involves it fails; with an empty reason only those fail that still need this rank. Launchers call it when a
// rank's function has thrown. Does nothing when the context is not in a job.
void leave_job(RankContext& context, const std::string& reason) noexcept;

}  // namespace dist
