// Joining a job: init_process_group() makes a JobState, whose constructor joins with real ranks (join():
// rendezvous, then connect()) or virtual ones (join_virtually()); agree_with_others() exchanges what all must
// agree on (backend, debug level, costs, rank 0's clock) before the default group gets its backend
// (give_backend()). Leaving is in job_leave.cpp, further groups in new_group.cpp, what watches over calls in
// job_diagnosis.cpp, failures in job_failures.cpp.
#include "dist/group/job_state.h"

#include <algorithm>
#include <set>

#include "dist/collectives/cost/cost_model_file.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/core/standard_streams.h"
#include "dist/group/control.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/join/at_exit.h"
#include "dist/group/join/device_choice.h"
#include "dist/group/join/rendezvous_plan.h"
#include "dist/group/join/virtual_world.h"
#include "dist/trace/profiler.h"

namespace dist {

void init_process_group(const InitOptions& options, Caller at) {
  open_standard_streams();  // before a socket takes the number of one
  RankContext& context = rank_context();
  const auto turn = context.turn();
  if (const auto job = JobState::of(context)) {
    fail(Errc::invalid_argument,
         "rank {}: init_process_group at {}: this rank is in a job already; call destroy_process_group first",
         job->job.rank, at.str());
  }
  auto job = std::make_shared<JobState>(options, context, at);
  const bool has_trace = job->tracer != nullptr;
  context.default_group = ProcessGroup(job->groups[0]);
  if (job->makes_on_gpu) set_default_device(job->device());
  context.job = std::move(job);
  context.gate.open();
  // Registered after everything that init makes, because handlers run before what was made earlier is
  // destroyed.
  if (&context != &process_rank_context()) return;
  leave_at_exit(has_trace);
}

ResolvedBackend resolve_backend(const std::string& named, const RankContext& context) {
  if (context.virtual_world) {
    if (named == "auto") return {"sim", ""};
    return {"sim", std::string(backend_named(named).name)};
  }
  if (named == "auto") return {named, ""};
  return {std::string(find_backend(named).name), ""};
}

JobState::JobState(const InitOptions& options, RankContext& of, CallSite where)
    : joined_at(where), settings(read_settings()), context(of) {
  attach_profiler();
  if (settings.device == DeviceType::cuda && !context.virtual_world) require_gpu(where);
  const bool takes_default = options.backend == "auto" && !context.virtual_world;
  const auto [backend, asked] = resolve_backend(takes_default ? settings.backend : options.backend, context);
  context.virtual_world ? join_virtually(options) : join(options);
  try {
    log = std::make_shared<FlightLog>(job.rank, job.world_size, settings.recorder_size, settings.dump_dir);
    context.virtual_world ? void(endpoint = context.virtual_world->endpoint(job.rank)) : connect();
    subscribe_observers();
    GroupState::Identity world{"the default group", 0, Members::everybody(job.world_size), backend, asked,
                               job.timeout};
    // Before a backend begins to communicate: ranks that named different ones learn it here.
    agree_with_others(*make_group(std::move(world)));
    check_mismatches();
    give_backend(*groups[0], nullptr);
    makes_on_gpu = settings.device == DeviceType::cuda &&
                   backend_named(groups[0]->identity.backend).device == DeviceType::cuda;
  } catch (const std::exception& error) {
    close(error.what());
    throw;
  }
}

void JobState::join(const InitOptions& options) {
  if (!context.launch) refuse_simulation(joined_at);
  job = rendezvous(options, context, process_environment, joined_at);
  set_current_rank_label(job.rank);
}

void JobState::connect() {
  signal_dump_ = std::make_unique<SignalDump>(log, job.token);
  EndpointOptions connect{.rank = job.rank, .world_size = job.world_size, .token = job.token};
  connect.transport = settings.transport;
  connect.deadline = Deadline::after(job.timeout);
  connect.is_gone = [this](int rank) {
    const std::vector key{gone_key(rank)};
    return job.store->check(key) || job.base->check(key);
  };
  endpoint = connect_endpoint(*job.store, connect);
  start_diagnosis();
}

void JobState::agree_with_others(GroupState& world) {
  const ControlCall call{"init_process_group", joined_at, job.timeout};
  const bool is_virtual = context.virtual_world != nullptr;
  if (is_virtual) costs = context.virtual_world->costs();
  const bool is_auto = world.identity.backend == "auto";
  const std::string named = settings.algorithms.empty() ? "" : ", DIST_ALGO=" + settings.algorithms;
  const ControlMessage mine{fmt::format("init_process_group(backend {}{})", world.identity.backend, named),
                            joined_at.str(),
                            fmt::format("{} {}\n{}\n{}", static_cast<int>(settings.debug),
                                        Moment::now().str(), is_auto ? device_here(settings, job).str() : "",
                                        is_virtual || job.rank != 0 ? "" : to_json(costs_here())),
                            joined_at};
  // The mismatch check needs all ranks, so it is on when one rank asks for it.
  const auto exchanged = exchange(world, call, mine);
  settings.debug = exchanged->once([](const auto& messages) {
    const auto level = [](const auto& message) { return static_cast<DebugLevel>(std::stoi(message.data)); };
    return level(*std::ranges::max_element(messages, {}, level));
  });
  const std::string& rank_0 = exchanged->messages[0].data;
  const auto space = rank_0.find(' '), line_end = rank_0.find('\n'),
             costs_at = rank_0.find('\n', line_end + 1) + 1;
  if (tracer) start_trace(*tracer, job, Moment::parse(rank_0.substr(space + 1, line_end - space - 1)));
  if (costs_at < rank_0.size()) costs = cost_model_from_json(rank_0.substr(costs_at), "of rank 0");
  if (is_auto) world.identity.backend = chosen_by_all(*exchanged);
}

GroupState::GroupState(Identity of, int my_global_rank)
    : identity(std::move(of)), global_rank(my_global_rank), rank(group_rank_of(my_global_rank)) {}

void GroupState::finish_pending() {
  if (!backend) return;
  for (const auto& given_up : backend->finish()) {
    log(LogLevel::warn, "{} was never waited for, and nothing had arrived when the group was destroyed",
        given_up);
  }
}

// 1 where hosts are not known: among virtual ranks.
int JobState::nodes_of(const Members& members) const {
  std::set<int> hosts;
  for (const int member : members.list())
    if (static_cast<std::size_t>(member) < job.hosts.size())
      hosts.insert(job.hosts[static_cast<std::size_t>(member)]);
  return std::max(1, static_cast<int>(hosts.size()));
}

std::shared_ptr<GroupState> JobState::make_group(GroupState::Identity identity) {
  auto group = std::make_shared<GroupState>(std::move(identity), job.rank);
  group->job = this;
  log->recorder.name_group(group->identity.context, group->identity.name, group->identity.ranks);
  const std::lock_guard lock(groups_mutex_);
  groups.push_back(group);
  if (!leaving_) group->gate.open();
  return group;
}

void JobState::give_backend(GroupState& group, std::shared_ptr<void> split_off) {
  if (group.rank < 0) return;
  BackendContext backend;
  backend.group_name = group.identity.name;
  backend.context = group.identity.context;
  backend.rank = group.rank;
  backend.members = group.identity.ranks;
  if (job.store) backend.store = std::make_shared<PrefixStore>("group/" + group.identity.name, job.store);
  backend.endpoint = endpoint;
  backend.send_mode = settings.send_mode;
  backend.algorithms = settings.algorithms;
  backend.costs = &costs;
  backend.nodes = nodes_of(backend.members);
  group.observer = make_group_observer(*this, group);
  backend.observer = group.observer.get();
  backend.split_off = std::move(split_off);
  if (context.virtual_world) group.backend = context.virtual_world->backend(backend);
  if (!group.backend) group.backend = find_backend(group.identity.backend).make(backend);
}

std::shared_ptr<JobState> JobState::of(RankContext& context) {
  auto job = std::static_pointer_cast<JobState>(context.job);
  if (!job || job->forks_ == forks_before()) return job;
  keep_for_ever(std::move(context.job));  // its connections and threads belong to the parent
  context.default_group = {};
  context.gate.renew();
  return nullptr;
}

}  // namespace dist
