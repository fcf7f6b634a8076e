#include "dist/group/job_state.h"

#include <algorithm>
#include <set>

#include <unistd.h>

#include "dist/backend/auto_choice.h"
#include "dist/collectives/cost_model_file.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/group/bounded.h"
#include "dist/group/control.h"
#include "dist/group/group_observer.h"
#include "dist/group/rendezvous_store.h"
#include "dist/group/run_trace.h"
#include "dist/group/stall.h"
#include "dist/group/virtual_world.h"
#include "dist/group/work_watch.h"
#include "dist/trace/profiler.h"
#include "dist/transport/traced_endpoint.h"

namespace dist {
namespace {

void finish_pending(GroupState& group) {
  if (!group.backend) return;
  for (const auto& given_up : group.backend->finish()) {
    log(LogLevel::warn, "{} was never waited for, and nothing had arrived when the group was destroyed",
        given_up);
  }
}

int host_of(const Job& job) {
  const auto rank = static_cast<std::size_t>(job.rank);
  return rank < job.hosts.size() ? job.hosts[rank] : 0;
}

// The second line of what a rank says when it joins.
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

// How long a rank that leaves in disorder keeps the store for the others.
constexpr Timeout hasty_patience = std::chrono::seconds(1);

}  // namespace

ResolvedBackend resolve_backend(const std::string& named, const RankContext& context) {
  if (context.virtual_world) {
    if (named == "auto") return {"sim", ""};
    return {"sim", std::string(backend_named(named).name)};
  }
  if (named == "auto") return {named, ""};
  return {std::string(find_backend(named).name), ""};
}

JobState::JobState(const InitOptions& options, RankContext& of)
    : settings(read_settings()), context(of), pid_(getpid()) {
  attach_profiler();
  const auto [backend, asked] = resolve_backend(options.backend, context);
  context.virtual_world ? join_virtually(options) : join(options);
  try {
    log = std::make_shared<FlightLog>(job.rank, job.world_size, settings.recorder_size, settings.dump_dir);
    if (!observer) observer = work_watch_ = std::make_shared<WorkWatch>(log);
    context.virtual_world ? void(endpoint = context.virtual_world->endpoint(job.rank)) : connect();
    GroupState::Identity world{"the default group", 0, Members::everybody(job.world_size), backend, asked,
                               job.timeout};
    // Before a backend begins to talk: ranks that named different ones are told so.
    agree_with_others(*make_group(std::move(world)), options);
    give_backend(*groups[0]);
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
         options.where.str());
  job = rendezvous(options, context);
  set_current_rank_label(job.rank);
}

void JobState::join_virtually(const InitOptions& options) {
  VirtualWorld& world = *context.virtual_world;
  job = world.join(context.launch->rank);
  const auto refuse = [&](std::string_view what, int asked, int is) {
    fail(Errc::mismatch,
         "rank {}: init_process_group at {}: {} = {} was given, but this is {} of a simulation", job.rank,
         options.where.str(), what, asked, is);
  };
  if (options.rank >= 0 && options.rank != job.rank) refuse("rank", options.rank, job.rank);
  if (options.world_size >= 0 && options.world_size != job.world_size)
    refuse("world_size", options.world_size, job.world_size);
  job.timeout = options.timeout.value_or(read_timeout(process_environment));
  settings.recorder_size = world.recorder_size();
  observer = world.observer(job.rank);
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
}

void JobState::agree_with_others(GroupState& world, const InitOptions& options) {
  const ControlCall call{"init_process_group", options.where, job.timeout};
  const bool is_virtual = context.virtual_world != nullptr;
  const bool is_auto = world.identity.backend == "auto";
  const auto measured = is_virtual ? std::nullopt : load_cost_model(cost_model_path());
  const ControlMessage mine{
      fmt::format("init_process_group(backend {})", world.identity.backend), options.where.str(),
      fmt::format("{} {}\n{}\n{}", static_cast<int>(settings.debug), Moment::now().str(),
                  is_auto ? local_device(host_of(job), job.local_rank).str() : "",
                  measured ? to_json(*measured) : ""),
      options.where};
  // The mismatch check needs all ranks: one that asks for it is enough.
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

std::shared_ptr<JobState> JobState::of(RankContext& context) {
  auto job = std::static_pointer_cast<JobState>(context.job);
  if (!job || job->pid_ == getpid()) return job;
  // Kept, never freed: its connections and threads are the parent's.
  static auto& inherited = *new std::vector<std::shared_ptr<void>>;
  inherited.push_back(std::move(context.job));
  context.default_group = {};
  return nullptr;
}

JobState::~JobState() {
  if (!left_) close("");
}

void JobState::finish() {
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    finish_pending(**group);
  }
  leave_with("", Deadline::after(leave_patience));
}

void JobState::close(const std::string& text) noexcept {
  const std::string reason(check::without_finding(text));
  try {
    if (endpoint) endpoint->abort(fmt::format("rank {} is leaving the job: {}", job.rank, reason));
  } catch (const std::exception& error) {
    dist::log(LogLevel::debug, "leaving: {}", error.what());
  }
  leave_with(reason, Deadline::after(hasty_patience));
}

void JobState::leave_with(const std::string& reason, Deadline deadline) noexcept {
  left_ = true;
  if (work_watch_ && !reason.empty()) work_watch_->keep_silent();
  if (watchdog) watchdog->leaving(reason.empty());
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    (*group)->backend.reset();
    (*group)->observer.reset();
    (*group)->job = nullptr;
  }
  groups.clear();
  watchdog.reset();
  signal_dump_.reset();
  if (endpoint) endpoint->close(reason);
  endpoint.reset();
  leave_store(deadline);
  if (tracer) write_trace(*tracer, settings.trace_file);  // last: nobody waits for this rank any more
  tracer.reset();
}

// The store's keeper may be stopped or cut off; that must not hold up a rank that leaves.
void JobState::leave_store(Deadline deadline) noexcept {
  if (!job.base) return;
  try {
    const auto leaving = std::make_shared<Job>(std::move(job));
    run_within(deadline.left() + hasty_patience, [leaving, deadline] { leave(*leaving, deadline); });
  } catch (const std::exception& error) {
    dist::log(LogLevel::debug, "leaving the store: {}", error.what());
  }
}

std::exception_ptr JobState::note_failure(std::uint64_t record, CallSite where,
                                          std::exception_ptr error) noexcept {
  if (work_watch_) work_watch_->keep_silent();
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    try {
      std::string text = thrown.what();
      if (const std::string place = where.str(); text.find(place) == std::string::npos) {
        text += "; called at " + place;
      }
      const std::string others = ask_others(record, thrown);
      const bool explains_better = check::without_finding(others) != others;
      text = (explains_better ? std::string(check::without_finding(text)) : text) + others;
      log->recorder.failed(record, text);
      dump(*log, name(thrown.code()));
      return std::make_exception_ptr(Error(thrown.code(), text));
    } catch (const std::exception&) {
      return error;  // no memory for more words
    }
  } catch (const std::exception& thrown) {
    log->recorder.failed(record, thrown.what());
    dump(*log, "error");
    return error;
  } catch (...) {
    return error;
  }
}

// A timeout is explained by what the others are doing; so is a mismatch that the transport has noticed.
std::string JobState::ask_others(std::uint64_t record, const Error& error) {
  constexpr Timeout patience = std::chrono::seconds(1);
  const bool is_timeout = error.code() == Errc::timeout;
  const bool is_mismatch = error.code() == Errc::mismatch;
  // In detail all ranks have compared their calls: nobody knows more. The transport has seen two.
  const bool all_compared = is_mismatch && settings.debug == DebugLevel::detail;
  const bool is_told = (all_compared || !is_mismatch) && check::without_finding(error.what()) != error.what();
  if (!watchdog || is_told || (!is_timeout && !is_mismatch)) return {};
  const auto answer = watchdog->ask(patience);
  if (answer.pictures.empty()) return {};
  const Scene scene{answer.pictures, job.rank, record, answer.settled(job.rank, record)};
  std::string text = is_timeout ? "; meanwhile " + answer.others(job.rank) : "";
  auto finding = is_timeout ? explain_stall(scene) : find_different_collectives(scene);
  if (!is_timeout && !finding && settings.debug == DebugLevel::detail) finding = find_misfit(scene);
  return finding ? text + "; " + finding->line() : text;
}

std::string JobState::tell(check::Finding finding) {
  std::string line = "; " + finding.line();
  return observer && observer->found(std::move(finding)) ? "" : line;
}

// One where hosts are not kept: among virtual ranks.
int JobState::nodes_of(const Members& members) const {
  std::set<int> hosts;
  for (const int member : members.list())
    if (static_cast<std::size_t>(member) < job.hosts.size())
      hosts.insert(job.hosts[static_cast<std::size_t>(member)]);
  return std::max(1, static_cast<int>(hosts.size()));
}

std::shared_ptr<GroupState> JobState::add_group(GroupState::Identity identity) {
  auto group = make_group(std::move(identity));
  give_backend(*group);
  return group;
}

std::shared_ptr<GroupState> JobState::make_group(GroupState::Identity identity) {
  auto group = std::make_shared<GroupState>(std::move(identity), job.rank);
  group->job = this;
  log->recorder.name_group(group->identity.context, group->identity.name, group->identity.ranks);
  groups.push_back(group);
  return group;
}

void JobState::give_backend(GroupState& group) {
  if (group.rank < 0) return;
  BackendContext backend;
  backend.group_name = group.identity.name;
  backend.context = group.identity.context;
  backend.rank = group.rank;
  backend.members = group.identity.ranks;
  if (job.store) backend.store = std::make_shared<PrefixStore>("group/" + group.identity.name, job.store);
  backend.endpoint = endpoint;
  backend.send_mode = settings.send_mode;
  backend.costs = &costs;
  backend.nodes = nodes_of(backend.members);
  group.observer = make_group_observer(*this, group);
  backend.observer = group.observer.get();
  group.backend = find_backend(group.identity.backend).make(backend);
}

void JobState::remove_group(GroupState& group) {
  finish_pending(group);
  group.backend.reset();
  group.observer.reset();
  group.job = nullptr;
  std::erase_if(groups, [&](const auto& candidate) { return candidate.get() == &group; });
}

}  // namespace dist
