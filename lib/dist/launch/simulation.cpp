#include "dist/launch/simulation.h"

#include <algorithm>
#include <chrono>

#include "dist/core/fail.h"
#include "dist/group/group_state.h"
#include "dist/launch/sim_observer.h"
#include "dist/launch/spawn_ranks.h"
#include "dist/trace/readable.h"

namespace dist::sim {
namespace {

constexpr int most_ranks_with_links = 64;  // counted without being asked

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

SchedulerOptions scheduler_options(const RunOptions& options) {
  SchedulerOptions of;
  if (options.stack_bytes > 0) of.stack_bytes = options.stack_bytes;
  return of;
}

}  // namespace

Simulation::Simulation(const RunOptions& options, Topology topology)
    : options_(options),
      scheduler_(std::move(topology), options.ranks, scheduler_options(options)),
      fabric_(scheduler_),
      observers_(index(options.ranks)),
      buffer_bytes_(index(options.ranks)),
      ended_(index(options.ranks)) {
  scheduler_.set_listener(this);
  scheduler_.suppose(options_.what_if);
  if (options_.links || options_.ranks <= most_ranks_with_links) scheduler_.network().count_links();
  if (options_.check) scheduler_.network().set_watcher(this);
  report_.peak_buffer_bytes.resize(index(options.ranks));
}

Simulation::~Simulation() {
  for (const auto& observer : observers_) {
    if (observer) observer->forget();  // a Work may outlive us
  }
}

Report Simulation::run(const std::function<void(int rank)>& fn) {
  const auto begin = std::chrono::steady_clock::now();
  scheduler_.run([&](int rank) { run_rank(rank, fn); });
  if (options_.check) look_for_unreceived();
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
  if (!options_.check) return nullptr;
  auto& observer = observers_[index(rank)];
  if (!observer) observer = std::make_shared<SimObserver>(*this, rank);
  return observer;
}

void Simulation::lost(int rank, Time at) {
  const std::string how = fmt::format("was lost at {}", trace::readable_time(at));
  const auto before = static_cast<std::ptrdiff_t>(scheduler_.lost().size()) - 1;
  report_.failures.insert(report_.failures.begin() + before, {rank, fmt::format("rank {} {}", rank, how)});
  ++first_blaming_;
  blackboard_.lose(rank, how);
}

void Simulation::memory(int rank, std::ptrdiff_t change) {
  if (rank < 0 || rank >= options_.ranks) return;
  std::int64_t& now = buffer_bytes_[index(rank)];
  now += change;
  auto& peak = report_.peak_buffer_bytes[index(rank)];
  peak = std::max(peak, static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0)));
}

void Simulation::note(check::Finding finding) {
  std::string text = finding.text();
  if (noted_.insert(std::move(text)).second) report_.findings.push_back(std::move(finding));
}

void Simulation::compare_collective(int rank, const GroupState& group, const Operation& operation) {
  const check::Party mine{
      rank, fmt::format("{} #{}", name(operation.kind), operation.sequence), operation.where, {}};
  const auto entry = collectives_.try_emplace({group.key(), operation.sequence}, Collective{mine}).first;
  auto& [first, came] = entry->second;
  if (first.doing != mine.doing)
    note({check::Code::mismatched_collective,
          fmt::format("rank {} calls {} where rank {} calls {}", mine.rank, mine.doing, first.rank,
                      first.doing),
          {first, mine}});
  if (++came == group.size()) collectives_.erase(entry);
}

check::Party Simulation::party_of(const NetRequest& request) const {
  const auto& site = fabric_.sites[request.site];
  const std::string peer = request.peer == any_source ? "any rank" : fmt::format("rank {}", request.peer);
  return {request.owner,
          fmt::format("{} ({} bytes {} {})", site.name, request.bytes, request.is_send ? "to" : "from", peer),
          site.where,
          {}};
}

void Simulation::misfit(const NetRequest& send, const NetRequest& recv) {
  const auto& sent = fabric_.sites[send.site].name;
  const auto& received = fabric_.sites[recv.site].name;
  const bool are_messages = sent == "send" && received == "recv";
  if (!are_messages && sent != received) return;  // told as D2 when the calls were compared
  if (send.bytes == recv.bytes && !are_messages) return;
  note({check::Code::misfit_message,
        send.bytes != recv.bytes
            ? fmt::format("{} bytes are sent and {} expected", send.bytes, recv.bytes)
            : fmt::format("{} bytes are sent with another dtype than the receive's", send.bytes),
        {party_of(send), party_of(recv)}});
}

void Simulation::stranded(const NetRequest& request, int gone) {
  if (!ended_well(gone)) return;
  check::Party party = party_of(request);
  if (request.is_send) {
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
