#include "dist/launch/simulation.h"

#include <algorithm>
#include <chrono>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/launch/sim_observer.h"
#include "dist/launch/spawn_ranks.h"
#include "dist/sim/watch.h"

namespace dist::sim {
namespace {

constexpr int most_ranks_with_links = 64;  // counted without being asked

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

// Each tensor takes a page then.
bool can_guard_tensors(const RunOptions& options) { return options.check && options.ranks <= 64; }

SchedulerOptions scheduler_options(const RunOptions& options) {
  SchedulerOptions of;
  of.guard_tensors = can_guard_tensors(options);
  if (options.stack_bytes > 0) of.stack_bytes = options.stack_bytes;
  return of;
}

}  // namespace

Simulation::Simulation(const RunOptions& options, Topology topology, Choices* choices)
    : options_(options),
      choices_(choices),
      scheduler_(std::move(topology), options.ranks, scheduler_options(options)),
      fabric_(scheduler_),
      observers_(index(options.ranks)),
      buffer_bytes_(index(options.ranks)),
      ended_(index(options.ranks)) {
  scheduler_.set_listener(this);
  if (choices_) scheduler_.set_choices(choices_);
  scheduler_.suppose(options_.what_if);
  if (options_.links || options_.ranks <= most_ranks_with_links) scheduler_.network().count_links();
  if (options_.check) scheduler_.network().set_watcher(this);
  if (options_.check && options_.watch && options_.ranks > 1) scheduler_.set_globals(&globals_.emplace());
  if (options_.trace) {
    tracer_.emplace(fmt::format("{} ranks on {}", options_.ranks, scheduler_.network().topology().name),
                    options_.ranks);
    scheduler_.set_tracer(&*tracer_);
  }
  report_.peak_buffer_bytes.resize(index(options.ranks));
}

Simulation::~Simulation() {
  for (const auto& observer : observers_) {
    if (observer) observer->forget();  // a Work may outlive us
  }
}

Report Simulation::run(const std::function<void(int rank)>& fn) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Watch> watch;
  if (options_.watch) watch.emplace(scheduler_, options_.patience);
  try {
    scheduler_.run([&](int rank) { run_rank(rank, fn); });
  } catch (const Error&) {
    if (report_.failures.empty()) throw;  // otherwise the ranks have said it
  }
  if (watch) report_.notes = watch->notes();
  if (globals_) std::ranges::move(globals_->notes(), std::back_inserter(report_.notes));
  if (options_.check) look_for_unreceived();
  if (tracer_) report_.trace = tracer_->take(scheduler_.finish_time());
  const Network& network = scheduler_.network();
  report_.virtual_time_s = to_seconds(scheduler_.finish_time());
  report_.messages = network.messages();
  report_.switches = scheduler_.switches();
  report_.links = network.links();
  report_.card_bytes = network.card_bytes();
  for (int rank = 0; rank < options_.ranks; ++rank) report_.traffic.push_back(network.traffic(rank));
  report_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::move(report_);
}

void Simulation::run_rank(int rank, const std::function<void(int rank)>& fn) {
  RankContext context;
  context.launch = spawned_rank(rank, options_.ranks);
  context.virtual_world = std::shared_ptr<VirtualWorld>(std::shared_ptr<void>(), this);  // outlives the rank
  const RankContextGuard guard(context);
  dist::run_rank(rank, fn, [&](const RankResult& result) {
    if (scheduler_.is_lost(rank)) return;
    const bool blames = result.blames_others();
    RankFailed failed{rank, rank_message(rank, result.text)};
    if (blames || report_.failures.empty())
      report_.failures.push_back(std::move(failed));
    else
      report_.failures.insert(report_.failures.begin() + first_blaming_, std::move(failed));
    if (!blames) ++first_blaming_;
  });
  ended_[index(rank)] = true;
}

Job Simulation::join(int rank) {
  const Topology& topology = scheduler_.network().topology();
  Job job;
  job.rank = rank;
  job.world_size = options_.ranks;
  job.local_rank = topology.gpus_per_node > 0 ? rank % topology.gpus_per_node : rank;
  const int node_begin = rank - job.local_rank;
  job.local_world_size = topology.gpus_per_node > 0
                             ? std::min(topology.gpus_per_node, options_.ranks - node_begin)
                             : options_.ranks;
  job.launcher = "sim";
  fabric_.gone[index(rank)].clear();
  scheduler_.network().revive(rank);
  return job;
}

std::shared_ptr<Endpoint> Simulation::endpoint(int rank) {
  return std::make_shared<SimEndpoint>(fabric_, rank);
}

// Thousands of ranks share this memory: each remembers less.
std::size_t Simulation::recorder_size() const { return options_.ranks <= 64 ? 64 : 4; }

std::shared_ptr<CallObserver> Simulation::observer(int rank) {
  if (!options_.check && !options_.trace) return nullptr;
  auto& observer = observers_[index(rank)];
  if (!observer) observer = std::make_shared<SimObserver>(*this, rank);
  return observer;
}

void Simulation::call_begins(int rank, const trace::Call& call) {
  if (tracer_) tracer_->call_begins(rank, call, scheduler_.clock());
}

bool Simulation::lends_tensors() {
  return can_guard_tensors(options_) && (!choices_ || choices_->choose(ChoicePoint::buffers, 2) == 0);
}

void Simulation::call_ends(int rank, std::uint64_t record) {
  if (tracer_) tracer_->call_ends(rank, record, scheduler_.clock());
}

void Simulation::lost(int rank, Time at) {
  const std::string how = LostRank{rank, at}.how();
  const auto before = static_cast<std::ptrdiff_t>(scheduler_.lost().size()) - 1;
  report_.failures.insert(report_.failures.begin() + before, {rank, fmt::format("rank {} {}", rank, how)});
  ++first_blaming_;
  blackboard_.lose(rank, how);
}

void Simulation::memory(int rank, std::ptrdiff_t change) {
  if (rank < 0 || rank >= options_.ranks) return;
  all_buffer_bytes_ += change;
  if (change > 0 && all_buffer_bytes_ > static_cast<std::int64_t>(physical_memory()))
    fail(Errc::resource,
         "the tensors of {} simulated ranks need more than this machine's {} MiB; simulate fewer ranks or "
         "smaller tensors",
         options_.ranks, physical_memory() >> 20);
  std::int64_t& now = buffer_bytes_[index(rank)];
  now += change;
  auto& peak = report_.peak_buffer_bytes[index(rank)];
  peak = std::max(peak, static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0)));
}

void Simulation::note(check::Finding finding, Telling telling) {
  const auto is_another = [&](const auto& other) { return other.code != finding.code; };
  switch (telling) {
    case Telling::together: return note_together(std::move(finding));
    case Telling::unless_failed:
      if (!report_.failures.empty() || std::ranges::any_of(report_.findings, is_another)) return;
      break;
    case Telling::always: break;
  }
  std::string text = finding.text();
  if (noted_.insert(std::move(text)).second) report_.findings.push_back(std::move(finding));
}

void Simulation::note_together(check::Finding finding) {
  for (check::Finding& other : report_.findings) {
    if (other.code != finding.code || other.what != finding.what) continue;
    for (check::Party& party : finding.parties) {
      if (std::ranges::find(other.parties, party) == other.parties.end())
        other.parties.push_back(std::move(party));
    }
    return;
  }
  report_.findings.push_back(std::move(finding));
}

// All ranks that differ from the one that came first make one finding.
void Simulation::compare_collective(int rank, const Attendance& attendance) {
  const auto& [group, group_size, mine, where] = attendance;
  const auto entry = collectives_.try_emplace({group, mine.sequence}, Collective{mine, rank, where}).first;
  Collective& call = entry->second;
  if (call.first != mine) {
    check::Party party{rank, mine.str(), where, {}};
    if (call.finding < 0) {
      call.finding = static_cast<int>(report_.findings.size());
      report_.findings.push_back(
          check::explain_difference(kind_of_difference(call.first, mine),
                                    {{call.rank, call.first.str(), call.where, {}}, std::move(party)}));
    } else {
      report_.findings[index(call.finding)].parties.push_back(std::move(party));
    }
  }
  if (++call.came == group_size) collectives_.erase(entry);
}

check::Party Simulation::party_of(const NetRequest& request) const {
  const auto& site = fabric_.sites[request.site];
  return {request.owner,
          check::describe_message(site.name, request.is_send, request.bytes,
                                  request.peer == any_source ? -1 : request.peer),
          site.where,
          {}};
}

void Simulation::written(const NetRequest& recv) {
  if (globals_) globals_->received(recv.owner, recv.data, recv.bytes);
}

void Simulation::misfit(const NetRequest& send, const NetRequest& recv) {
  const auto& sent = fabric_.sites[send.site].name;
  const auto& received = fabric_.sites[recv.site].name;
  const bool are_messages = sent == "send" && received == "recv";
  // Of collectives: told when the calls were compared, except where each rank has a size of its own.
  if (!are_messages && (sent != received || send.bytes == recv.bytes || !report_.findings.empty())) return;
  note(check::explain_misfit({party_of(send), party_of(recv), send.bytes, recv.bytes}));
}

void Simulation::stranded(const NetRequest& request, int gone) {
  if (!ended_well(gone)) return;
  check::Party party = party_of(request);
  if (request.is_send && fabric_.sites[request.site].name == "send") {
    note({check::Code::never_received, fmt::format("rank {} has left without receiving it", gone), {party}});
  } else {
    party.waits_for = {gone};
    note(check::explain_deadlock({party}, {gone}));
  }
}

bool Simulation::ended_well(int rank) const {
  return fabric_.gone[index(rank)] == has_left && report_.failures.empty() && report_.findings.empty();
}

std::vector<int> Simulation::waited_for(const BlockedTask& task) const {
  if (task.reason && task.request == no_request) return task.reason->waits_for();
  if (task.request == no_request) return {};
  const NetRequest& request = scheduler_.network()[task.request];
  if (request.peer != any_source) return {request.peer};
  std::vector<int> others;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    if (rank != task.rank) others.push_back(rank);
  }
  return others;
}

void Simulation::stalled(const std::vector<BlockedTask>& blocked) {
  if (!options_.check || !report_.findings.empty()) return;  // what follows, follows from that
  if (std::ranges::any_of(blocked, [](const BlockedTask& task) { return task.bounded && !task.worker; }))
    return;
  std::vector<check::Party> waiting;
  for (const BlockedTask& task : blocked) {
    if (!task.reason) continue;  // a wait for a worker of its own, which is in the list too
    waiting.push_back({task.rank, task.reason->doing(), task.reason->where(), waited_for(task)});
  }
  std::vector<int> ended;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    if (ended_[index(rank)]) ended.push_back(rank);
  }
  if (!waiting.empty()) note(check::explain_deadlock(std::move(waiting), ended));
}

void Simulation::look_for_unreceived() {
  if (!report_.failures.empty() || !report_.findings.empty()) return;
  for (const RequestId id : scheduler_.network().unmatched_sends()) {
    note({check::Code::never_received,
          "nobody received it before the program ended",
          {party_of(scheduler_.network()[id])}});
  }
}

}  // namespace dist::sim
