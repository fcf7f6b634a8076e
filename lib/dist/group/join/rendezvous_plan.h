// What rendezvous() is to do: options, rank context and environment brought together and checked
// before anything moves.
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"
#include "dist/group/join/environment.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"
#include "dist/store/store.h"

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

}  // namespace dist
