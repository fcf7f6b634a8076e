// Brings options, rank context and environment together: who_am_i() takes rank and world size from the
// options, else from spawn or the environment; plan_rendezvous() adds where the store is, and
// open_store() opens it.
#include "dist/group/join/rendezvous_plan.h"

#include "dist/core/fail.h"
#include "dist/group/join/init_method.h"
#include "dist/group/join/kept_store.h"
#include "dist/group/join/settings.h"
#include "dist/store/file_store.h"
#include "dist/store/memory_store.h"

namespace dist {
namespace {

// Rank and world size from the options; what is left out comes from spawn or the environment.
LaunchInfo who_am_i(const InitMethod& asked, const RankContext& context, const GetEnv& get_env) {
  LaunchInfo info = context.launch ? *context.launch : read_environment(asked, get_env);
  if (asked.rank != -1 && asked.rank != info.rank) {
    info.local_rank = info.local_world_size = -1;  // the launcher's figures are for another rank
  }
  if (asked.rank != -1) info.rank = asked.rank;
  if (asked.world_size != -1) info.world_size = asked.world_size;
  if (info.world_size < 1 || info.rank < 0 || info.rank >= info.world_size) {
    fail(Errc::invalid_argument,
         "init_process_group at {}: rank {} of world size {}: ranks go from 0 to world size - 1",
         asked.where.str(), info.rank, info.world_size);
  }
  return info;
}

}  // namespace

RendezvousPlan plan_rendezvous(const InitOptions& options, const RankContext& context, const GetEnv& get_env,
                               CallSite where) {
  const InitMethod asked = read_init_method(options, get_env, where);
  RendezvousPlan plan;
  plan.timeout = options.timeout.value_or(read_timeout(get_env));
  if (plan.timeout <= Timeout::zero())
    fail(Errc::invalid_argument, "init_process_group at {}: the timeout must be greater than 0", where.str());
  plan.launch = who_am_i(asked, context, get_env);
  if (asked.is_env())
    plan.store = context.store;
  else
    place_store(options, asked, get_env, plan);
  return plan;
}

std::string join_key(int rank) { return fmt::format("join/{}", rank); }
std::string gone_key(int rank) { return fmt::format("gone/{}", rank); }

static std::string meeting_name(int restart_count, int generation) {
  return fmt::format("job/{}/{}", restart_count, generation);
}

std::shared_ptr<Store> meeting_place(std::shared_ptr<Store> store, int restart_count, int generation) {
  return std::make_shared<PrefixStore>(meeting_name(restart_count, generation), std::move(store));
}

OpenedStore open_store(const RendezvousPlan& plan, int generation, Deadline deadline) {
  const auto& launch = plan.launch;
  if (plan.store) return {nullptr, plan.store, generation};
  if (!plan.path.empty()) return {nullptr, make_file_store(plan.path, launch.world_size), generation};
  if (launch.store_address.empty()) return {nullptr, make_memory_store(), generation};
  if (!plan.kept_by_rank_0()) {
    const LastWill will{meeting_name(plan.launch.restart_count, generation) + "/" + gone_key(launch.rank),
                        "lost"};
    return {nullptr, make_tcp_store(launch.store_address, launch.token, deadline, will), generation};
  }
  return launch.rank == 0 ? keep_store(plan, generation, deadline)
                          : join_kept_store(plan, generation, deadline);
}

}  // namespace dist
