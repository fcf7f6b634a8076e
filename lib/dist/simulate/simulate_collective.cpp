// One collective by sizes alone: the views that every rank passes, without memory; the algorithm, from the
// library's table or in the switches; the checks; and the run, whose costs come from the scheduler and the
// network.
#include "dist/simulate/simulate_collective.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "dist/collectives/algorithms.h"
#include "dist/core/fail.h"
#include "dist/sim/switch_tree.h"
#include "dist/sim/transport.h"
#include "dist/simulate/topology_costs.h"

namespace dist::sim {
namespace {

// What every rank passes: views of equal chunks, or of the whole, without memory.
struct Shapes {
  Shapes(OpKind kind, int ranks, std::int64_t count)
      : whole{nullptr, count, DType::f32, cpu}, shares(static_cast<std::size_t>(ranks)) {
    const bool equal = kind == OpKind::scatter || kind == OpKind::gather || kind == OpKind::all_to_all;
    if (equal) whole.count = (count + ranks - 1) / ranks * ranks;
    for (int i = 0; i < ranks; ++i) shares[static_cast<std::size_t>(i)] = chunk(whole, i, ranks);
    shared = kind != OpKind::all_reduce && kind != OpKind::broadcast && kind != OpKind::reduce;
  }

  CollectiveArgs of(int rank) const {
    CollectiveArgs args;
    const TensorView mine = shared ? shares[static_cast<std::size_t>(rank)] : whole;
    args.in = args.out = mine;
    if (shared) args.ins = args.outs = shares;
    return args;
  }

  TensorView whole;
  std::vector<TensorView> shares;
  bool shared;
};

bool is_in_switches(const CollectiveRun& run) {
  return run.collective == OpKind::all_reduce && run.algorithm == in_switches;
}

// The function from the library's table, or the switches'.
std::function<void(SimTransport& net, const CollectiveArgs& args)> function_of(const CollectiveRun& run,
                                                                               Scheduler& scheduler) {
  if (is_in_switches(run)) {
    return
        [switches = std::make_shared<SwitchTree>(scheduler)](SimTransport& net, const CollectiveArgs& args) {
          switches->all_reduce(net, args.out, args.op);
        };
  }
  const AlgorithmEntry& entry = find_algorithm(run.collective, run.algorithm);
  return [&entry](SimTransport& net, const CollectiveArgs& args) { entry.run(net, args); };
}

// The algorithms' frames are small, even while an error is thrown.
SchedulerOptions for_algorithms() {
  SchedulerOptions options;
  options.stacks = Stacks::Of::library;
  if (!built_with_asan && !built_with_tsan) options.stack_bytes = std::size_t{20} * 1024;
  return options;
}

}  // namespace

std::vector<std::string> simulated_algorithms(OpKind collective, const Topology& topology) {
  std::vector<std::string> names;
  for (const auto& entry : algorithms()) {
    if (entry.collective == collective) names.emplace_back(entry.name);
  }
  if (collective == OpKind::all_reduce && topology.switch_radix > 0) names.emplace_back(in_switches);
  return names;
}

void check_collective(const CollectiveRun& run, const Topology& topology) {
  check_ranks(run.ranks, topology);
  if (run.bytes < 0) fail(Errc::invalid_argument, "{} bytes were asked for", run.bytes);
  const auto known = simulated_algorithms(run.collective, topology);
  if (!run.algorithm.empty() && !is_in_switches(run) &&
      std::ranges::find(known, run.algorithm) == known.end())
    fail(Errc::invalid_argument, "{} has no algorithm \"{}\"; it has: {}", name(run.collective),
         run.algorithm, fmt::join(known, ", "));
  if (is_in_switches(run)) check_switches(topology);
  run.what_if.check(run.ranks);
}

CollectiveCost simulate_collective(const CollectiveRun& asked, const Topology& topology) {
  check_collective(asked, topology);
  CollectiveRun run = asked;
  if (run.algorithm.empty())
    run.algorithm =
        choose(run.collective, static_cast<std::size_t>(run.bytes),
               {.ranks = run.ranks, .nodes = nodes_of(run.ranks, topology)}, costs_of(topology, run.ranks))
            .algorithm;
  const std::int64_t count = (run.bytes + 3) / 4;
  CollectiveCost cost;
  cost.algorithm = run.algorithm;
  const Shapes shapes(run.collective, run.ranks, run.collective == OpKind::barrier ? 0 : count);
  const auto begin = std::chrono::steady_clock::now();
  Scheduler scheduler(topology, run.ranks, for_algorithms());
  scheduler.suppose(run.what_if);
  if (run.links) scheduler.network().count_links();
  Fabric fabric(scheduler);
  const auto algorithm = function_of(run, scheduler);
  TransportOptions options;
  options.members = Members::everybody(run.ranks);
  options.label.name = cost.algorithm;
  scheduler.run([&](int rank) {
    SimTransport net(fabric, options, rank);
    try {
      algorithm(net, shapes.of(rank));
    } catch (const Error& error) {
      if (scheduler.lost().empty()) throw;
      if (!scheduler.is_lost(rank)) cost.failures.push_back({rank, error.what()});
    }
  });
  for (auto lost = scheduler.lost().rbegin(); lost != scheduler.lost().rend(); ++lost) {
    cost.failures.insert(cost.failures.begin(),
                         {lost->rank, fmt::format("rank {} {}", lost->rank, lost->how())});
  }
  cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  cost.virtual_time_s = to_seconds(scheduler.finish_time());
  cost.messages = scheduler.network().messages();
  cost.links = scheduler.network().links();
  for (int rank = 0; rank < run.ranks; ++rank) {
    cost.max_bytes_sent_per_rank =
        std::max(cost.max_bytes_sent_per_rank, scheduler.network().traffic(rank).bytes_sent);
  }
  return cost;
}

}  // namespace dist::sim
