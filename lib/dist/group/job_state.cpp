// Joining a job. The constructor joins with real ranks (join: rendezvous, then connect()) or virtual ones
// (join_virtually); agree_with_others() exchanges what all must agree on (backend, debug level, costs, rank
// 0's clock) before the default group gets its backend. Leaving is in job_leave.cpp, failures in
// job_failures.cpp, groups in job_groups.cpp.
#include "dist/group/job_state.h"

#include <algorithm>

#include "dist/backend/auto_choice.h"
#include "dist/collectives/cost/cost_model_file.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/group/control.h"
#include "dist/group/diagnosis/fingerprint.h"
#include "dist/group/diagnosis/run_trace.h"
#include "dist/group/diagnosis/work_watch.h"
#include "dist/group/join/rendezvous_store.h"
#include "dist/group/join/virtual_world.h"
#include "dist/trace/profiler.h"
#include "dist/transport/traced_endpoint.h"

namespace dist {
namespace {

int host_of(const Job& job) {
  const auto rank = static_cast<std::size_t>(job.rank);
  return rank < job.hosts.size() ? job.hosts[rank] : 0;
}

const std::string& wanted_backend(const InitOptions& options, const Settings& settings,
                                  const RankContext& context) {
  return options.backend == "auto" && !context.virtual_world ? settings.backend : options.backend;
}

// Checked before any other rank is met, because without this rank there is no job.
void refuse_without_gpu(CallSite where) {
  std::string why;
  if (default_device(0, &why) == cpu)
    fail(Errc::unsupported, "init_process_group at {}: DIST_DEVICE=cuda asks for a GPU: {}", where.str(),
         why);
}

// Reads the second line of what a rank sends when it joins.
RankDevice device_in(std::string_view said) {
  said.remove_prefix(said.find('\n') + 1);
  return RankDevice::from(said.substr(0, said.find('\n')));
}

std::string chosen_by_all(const Exchanged& exchanged) {
  std::vector<RankDevice> devices;
  for (const ControlMessage& message : exchanged.messages) devices.push_back(device_in(message.data));
  const BackendChoice choice = choose_backend(devices);
  log(LogLevel::info, "backend auto is {}: {}", choice.backend, choice.reason);
  return std::string(choice.backend);
}

}  // namespace

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
  if (settings.device == DeviceType::cuda && !context.virtual_world) refuse_without_gpu(where);
  const auto [backend, asked] = resolve_backend(wanted_backend(options, settings, context), context);
  context.virtual_world ? join_virtually(options) : join(options);
  try {
    log = std::make_shared<FlightLog>(job.rank, job.world_size, settings.recorder_size, settings.dump_dir);
    context.virtual_world ? void(endpoint = context.virtual_world->endpoint(job.rank)) : connect();
    subscribe_observers();
    GroupState::Identity world{"the default group", 0, Members::everybody(job.world_size), backend, asked,
                               job.timeout};
    // Before a backend begins to communicate: ranks that named different ones learn it here.
    agree_with_others(*make_group(std::move(world)));
    give_backend(*groups[0], nullptr);
    makes_on_gpu = settings.device == DeviceType::cuda &&
                   backend_named(groups[0]->identity.backend).device == DeviceType::cuda;
  } catch (const std::exception& error) {
    close(error.what());
    throw;
  }
}

void JobState::join(const InitOptions& options) {
  if (const auto asked = process_environment("DIST_SIM"); asked && !asked->empty() && !context.launch)
    fail(Errc::invalid_argument,
         "init_process_group at {}: DIST_SIM simulates the ranks that dist::spawn() starts, but this "
         "program's main "
         "joins a job itself; move what each rank does into a function rank_main(int rank) and call "
         "dist::spawn(n, rank_main)",
         joined_at.str());
  job = rendezvous(options, context, process_environment, joined_at);
  set_current_rank_label(job.rank);
}

void JobState::join_virtually(const InitOptions& options) {
  VirtualWorld& world = *context.virtual_world;
  job = world.join(context.launch->rank);
  const auto refuse = [&](std::string_view what, int asked, int is) {
    fail(Errc::mismatch,
         "rank {}: init_process_group at {}: {} = {} was given, but this is {} of a simulation", job.rank,
         joined_at.str(), what, asked, is);
  };
  if (options.rank >= 0 && options.rank != job.rank) refuse("rank", options.rank, job.rank);
  if (options.world_size >= 0 && options.world_size != job.world_size)
    refuse("world_size", options.world_size, job.world_size);
  job.timeout = options.timeout.value_or(read_timeout(process_environment));
  settings.recorder_size = world.recorder_size();
  simulation = world.observer(job.rank);
}

void JobState::subscribe_observers() {
  calls = std::make_shared<CallObservers>(log);
  if (tracer) calls->subscribe(trace_calls(tracer), true);
  if (settings.debug == DebugLevel::detail) calls->subscribe(std::make_shared<MismatchCheck>(), true);
  if (simulation)
    calls->subscribe(simulation, true);
  else
    calls->subscribe(work_watch_ = std::make_shared<WorkWatch>(log), false);
}

void JobState::connect() {
  signal_dump_ = std::make_unique<SignalDump>(log);
  EndpointOptions connect;
  connect.rank = job.rank;
  connect.world_size = job.world_size;
  connect.token = job.token;
  connect.transport = settings.transport;
  connect.deadline = Deadline::after(job.timeout);
  connect.is_gone = [this](int rank) {
    const std::vector key{gone_key(rank)};
    return job.store->check(key) || job.base->check(key);
  };
  endpoint = connect_endpoint(*job.store, connect);
  tracer = make_tracer(settings, job);
  if (tracer) endpoint = traced(endpoint, tracer);
  watchdog = std::make_unique<Watchdog>(std::make_shared<PrefixStore>("watchdog", job.store), log);
  if (settings.deadlock_after_s == 0 || job.world_size == 1) return;
  const auto after = std::chrono::seconds(settings.deadlock_after_s);
  stall_look_ = std::make_unique<StallLook>(log, *watchdog, after, [this](const check::Finding& finding) {
    endpoint->abort(fmt::format("it would hang forever; {}", finding.line()));
  });
}

bool JobState::sends_by_tcp() const {
  return sends_by_sockets_alone(settings.transport) || nodes_of(Members::everybody(job.world_size)) > 1;
}

CostModel JobState::costs_here() const {
  CostModel model = known_costs(sends_by_tcp()).model;
  if (!endpoint->has_cores()) model = on_shared_cores(model);
  return sends_by_sockets_alone(settings.transport) ? all_far(model) : model;
}

void JobState::agree_with_others(GroupState& world) {
  const ControlCall call{"init_process_group", joined_at, job.timeout};
  const bool is_virtual = context.virtual_world != nullptr;
  if (is_virtual) costs = context.virtual_world->costs();
  const bool is_auto = world.identity.backend == "auto";
  const auto found = [this] {
    if (settings.device == DeviceType::cpu) return RankDevice{"", false, "DIST_DEVICE=cpu"};
    return local_device(host_of(job), job.local_rank);
  };
  const std::string named = settings.algorithms.empty() ? "" : ", DIST_ALGO=" + settings.algorithms;
  const ControlMessage mine{
      fmt::format("init_process_group(backend {}{})", world.identity.backend, named), joined_at.str(),
      fmt::format("{} {}\n{}\n{}", static_cast<int>(settings.debug), Moment::now().str(),
                  is_auto ? found().str() : "", is_virtual ? "" : to_json(costs_here())),
      joined_at};
  // The mismatch check needs all ranks, so it is on when one rank asks for it.
  const auto exchanged = exchange(world, call, mine);
  settings.debug = exchanged->once([](const auto& messages) {
    DebugLevel highest = DebugLevel::off;
    for (const auto& message : messages)
      highest = std::max(highest, static_cast<DebugLevel>(std::stoi(message.data)));
    return highest;
  });
  const std::string& rank_0 = exchanged->messages[0].data;
  const auto space = rank_0.find(' '), line_end = rank_0.find('\n'),
             costs_at = rank_0.find('\n', line_end + 1) + 1;
  if (tracer) start_trace(*tracer, job, Moment::parse(rank_0.substr(space + 1, line_end - space - 1)));
  if (costs_at < rank_0.size()) costs = cost_model_from_json(rank_0.substr(costs_at), "of rank 0");
  if (is_auto) world.identity.backend = chosen_by_all(*exchanged);
}

Device JobState::device() const {
  if (context.virtual_world || settings.device == DeviceType::cpu) return cpu;
  return default_device(job.local_rank);
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
