// Simulation: makes the world of one run, runs the ranks, and completes the report. Here are joining, losses,
// ranks that give up, and memory; what it finds wrong with the program is in simulation_findings.cpp.
#include "dist/simulate/simulation.h"

#include <algorithm>
#include <chrono>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/values.h"
#include "dist/group/run_rank.h"
#include "dist/sim/watch.h"
#include "dist/simulate/sim_observer.h"
#include "dist/simulate/topology_costs.h"

namespace dist::sim {
namespace {

constexpr int most_ranks_with_links = 64;  // up to this many, links are always counted

// Each tensor then takes at least a page.
bool can_guard_tensors(const RunOptions& options) {
  return options.check && options.values && options.ranks <= 64;
}

SchedulerOptions scheduler_options(const RunOptions& options) {
  SchedulerOptions of;
  of.guard_tensors = can_guard_tensors(options);
  of.values = options.values;
  if (options.stack_bytes > 0) of.stack_bytes = options.stack_bytes;
  return of;
}

// The form of a finding that a trace contains.
trace::Finding told(const check::Finding& finding) {
  trace::Finding told{check::str(finding.code),
                      std::string(check::title(finding.code)),
                      finding.what,
                      std::string(finding.remedy()),
                      {}};
  for (const check::Party& party : finding.parties)
    told.parties.push_back({party.rank, party.doing, party.where, party.waits_for});
  return told;
}

}  // namespace

Simulation::Simulation(const RunOptions& options, Topology topology, Choices* choices)
    : options_(options),
      choices_(choices),
      costs_(costs_of(topology, options.ranks)),
      scheduler_(std::move(topology), options.ranks, scheduler_options(options)),
      fabric_(scheduler_),
      observers_(index(options.ranks)),
      buffer_bytes_(index(options.ranks)),
      ended_(index(options.ranks)) {
  scheduler_.set_listener(this);
  fabric_.on_giving_up = [this](int rank, const std::string& reason) { gives_up(rank, reason); };
  if (choices_) scheduler_.set_choices(choices_);
  scheduler_.suppose(options_.what_if);
  if (options_.links || options_.ranks <= most_ranks_with_links) scheduler_.network().count_links();
  if (options_.check) scheduler_.network().set_watcher(this);
  if (options_.check && options_.watch && options_.ranks > 1) scheduler_.set_globals(&globals_.emplace());
  if (options_.trace) {
    tracer_.emplace(
        fmt::format("{} on {}", counted(options_.ranks, "rank"), scheduler_.network().topology().name),
        options_.ranks);
    scheduler_.set_tracer(&*tracer_);
  }
  report_.peak_buffer_bytes.resize(index(options.ranks));
}

Simulation::~Simulation() {
  for (const auto& observer : observers_) {
    if (observer) observer->forget();  // a Work may outlive this
  }
}

Report Simulation::run(const std::function<void(int rank)>& fn) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Watch> watch;
  if (options_.watch) watch.emplace(scheduler_, options_.patience);
  const ValuesScope values(options_.values);
  try {
    scheduler_.run([&](int rank) { run_rank(rank, fn); });
  } catch (const Error&) {
    if (report_.failures.empty()) throw;  // otherwise the ranks' failures say it
  }
  if (watch) report_.notes = watch->notes();
  if (globals_) std::ranges::move(globals_->notes(), std::back_inserter(report_.notes));
  if (options_.check) look_for_unreceived();
  const Network& network = scheduler_.network();
  if (tracer_) {
    report_.trace = tracer_->take(scheduler_.finish_time());
    report_.trace.ranks_per_node = network.topology().gpus_per_node;
    std::ranges::transform(report_.findings, std::back_inserter(report_.trace.findings), told);
  }
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
    gives_up(rank, std::string(check::without_finding(result.text)));  // even if it has not joined yet
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
  given_up_.erase(rank);
  blackboard_.rejoin(rank);
  scheduler_.network().revive(rank);
  return job;
}

std::shared_ptr<Endpoint> Simulation::endpoint(int rank) {
  return std::make_shared<SimEndpoint>(fabric_, rank);
}

// Thousands of ranks share this memory, so each remembers less.
std::size_t Simulation::recorder_size() const { return options_.ranks <= 64 ? 64 : 4; }

std::shared_ptr<SimulationObserver> Simulation::observer(int rank) {
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

void Simulation::call_ends(int rank, std::uint64_t record, trace::Ending ending) {
  if (tracer_) tracer_->call_ends(rank, record, scheduler_.clock(), ending);
}

void Simulation::lost(int rank, Time at) {
  const std::string how = LostRank{rank, at}.how();
  const auto before = static_cast<std::ptrdiff_t>(scheduler_.lost().size()) - 1;
  report_.failures.insert(report_.failures.begin() + before, {rank, fmt::format("rank {} {}", rank, how)});
  ++first_blaming_;
  blackboard_.lose(rank, how);
  if (tracer_) tracer_->lost(rank, at);
}

void Simulation::gives_up(int rank, const std::string& reason) {
  if (!given_up_.insert(rank).second) return;
  const std::string how = "gave up: " + reason;
  fabric_.gave_up.push_back({rank, how});
  blackboard_.lose(rank, how);
  scheduler_.rouse(scheduler_.clock());
}

void Simulation::memory(int rank, std::ptrdiff_t change) {
  if (rank < 0 || rank >= options_.ranks) return;
  if (change > 0 && options_.values &&
      all_buffer_bytes_ + change > static_cast<std::int64_t>(physical_memory()))
    fail(Errc::resource,
         "the tensors of {} simulated ranks need more than this machine's {} MiB; simulate fewer ranks or "
         "smaller tensors",
         options_.ranks, physical_memory() >> 20);
  all_buffer_bytes_ += change;
  std::int64_t& now = buffer_bytes_[index(rank)];
  now += change;
  auto& peak = report_.peak_buffer_bytes[index(rank)];
  peak = std::max(peak, static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0)));
}

void Simulation::peak_restarts(int rank) {
  const std::int64_t now = std::max<std::int64_t>(buffer_bytes_[index(rank)], 0);
  report_.peak_buffer_bytes[index(rank)] = static_cast<std::uint64_t>(now);
}

}  // namespace dist::sim
