// What rendezvous() is to do: options, rank context and environment brought together and checked before
// anything moves. Then the store that it names: opening it (on rank 0 this may mean keeping it), and the keys
// there.
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"
#include "dist/group/join/environment.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"
#include "dist/store/store.h"
#include "dist/store/tcp_store.h"

namespace dist {

struct RendezvousPlan {
  LaunchInfo launch;             // rank and world size; where the store is, if at an address
  std::shared_ptr<Store> store;  // given by the caller or by spawn
  std::string path;              // the file of a file store
  Timeout timeout = default_timeout;

  // Whether rank 0 makes the store's server, to which the others connect.
  bool kept_by_rank_0() const {
    return !store && path.empty() && !launch.store_is_external && !launch.store_address.empty();
  }
};

// Error{invalid_argument} for contradictions; otherwise throws the same errors as read_environment().
RendezvousPlan plan_rendezvous(const InitOptions& options, const RankContext& context, const GetEnv& get_env,
                               CallSite where);

struct OpenedStore {
  std::unique_ptr<StoreServer> server;  // when this rank keeps the store
  std::shared_ptr<Store> store;
  int generation =
      0;  // which joining this is, counted by each rank, and by rank 0 for all when it keeps the store
};

// Blocks until the store can be used. `generation`: how often this rank has tried to join before.
OpenedStore open_store(const RendezvousPlan& plan, int generation, Deadline deadline);

// Where the ranks of one joining meet: keys of another restart or generation are not seen there.
std::shared_ptr<Store> meeting_place(std::shared_ptr<Store> store, int restart_count, int generation);

std::string join_key(int rank);  // at the meeting place: this rank has arrived
// This rank has left, or its process has ended. The key is at the meeting place when a launcher keeps the
// store, outside it when rank 0 does, because that store serves one joining only.
std::string gone_key(int rank);

}  // namespace dist
