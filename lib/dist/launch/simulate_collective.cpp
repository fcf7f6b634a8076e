#include "dist/launch/simulate_collective.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "dist/collectives/algorithms.h"
#include "dist/core/fail.h"
#include "dist/sim/transport.h"

namespace dist::sim {
namespace {

// What every rank passes: views of equal shares, or of the whole, without memory.
struct Shapes {
  Shapes(OpKind kind, int ranks, std::int64_t count)
      : whole{nullptr, count, DType::f32, cpu}, shares(static_cast<std::size_t>(ranks)) {
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

}  // namespace

CollectiveCost simulate_collective(const CollectiveRun& run, const Topology& topology) {
  if (run.ranks < 1)
    fail(Errc::invalid_argument, "{} ranks were asked for; at least one is needed", run.ranks);
  if (run.bytes < 0) fail(Errc::invalid_argument, "{} bytes were asked for", run.bytes);
  if (topology.max_ranks > 0 && run.ranks > topology.max_ranks)
    fail(Errc::invalid_argument, "topology {} has {} GPUs; {} ranks were asked for", topology.name,
         topology.max_ranks, run.ranks);
  const std::int64_t count = (run.bytes + 3) / 4;
  CollectiveCost cost;
  cost.algorithm =
      run.algorithm.empty()
          ? std::string(choose(run.collective, static_cast<std::size_t>(run.bytes), run.ranks).algorithm)
          : run.algorithm;
  const AlgorithmEntry& algorithm = find_algorithm(run.collective, cost.algorithm);
  const Shapes shapes(run.collective, run.ranks, run.collective == OpKind::barrier ? 0 : count);
  const auto begin = std::chrono::steady_clock::now();
  Scheduler scheduler(topology, run.ranks);
  Fabric fabric(scheduler);
  TransportOptions options;
  options.members = Members::everybody(run.ranks);
  options.label.name = cost.algorithm;
  scheduler.run([&](int rank) {
    SimTransport net(fabric, options, rank);
    algorithm.run(net, shapes.of(rank));
  });
  cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  cost.virtual_time_s = to_seconds(scheduler.finish_time());
  cost.messages = scheduler.network().messages();
  for (int rank = 0; rank < run.ranks; ++rank) {
    cost.max_bytes_sent_per_rank =
        std::max(cost.max_bytes_sent_per_rank, scheduler.network().traffic(rank).bytes_sent);
  }
  return cost;
}

}  // namespace dist::sim
