// Lab 12, the demonstration: messages between two processes are measured, a cost model is fitted to them, and
// such models predict the times on machines that you need not have.
//   ./distlab run 12
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "dist/dist.h"
#include "dist/simulate/simulate_collective.h"

#include "choose_an_algorithm.h"
#include "story.h"

namespace {

using dist::sim::Topology;
using lab::Algorithm, lab::Machine;
using story::say;

const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring: return "ring";
    case Algorithm::tree: return "tree";
    case Algorithm::double_tree: return "double_binary_tree";
    case Algorithm::parameter_server: return "parameter_server";
    case Algorithm::naive: return "naive_exchange";
    case Algorithm::hierarchical: return "hierarchical";
  }
  __builtin_unreachable();
}

std::string in_us(double seconds) { return fmt::format("{:.1f} us", seconds * 1e6); }

// ------------------------------------------------------------------------------------------------ 1: measure

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The seconds of one `call`: the mean of `times` calls, in the best of nine attempts, because other programs
// can only make it slower.
template <class Call>
double best_of(int times, Call call) {
  double best = 1e9;
  for (int attempt = 0; attempt < 9; ++attempt) {
    dist::barrier();
    const double start = now();
    for (int i = 0; i < times; ++i) call();
    best = std::min(best, (now() - start) / times);
  }
  return best;
}

// Half of a ping-pong. It uses the same calls as the burst, because they cost more than send and recv.
double one_way(int rank, dist::Tensor& t) {
  return best_of(20,
                 [&] {
                   if (rank == 0) dist::isend(t, 1).wait();
                   dist::irecv(t, 1 - rank).wait();
                   if (rank == 1) dist::isend(t, 0).wait();
                 }) /
         2;
}

// Eight messages under way at the same time, from rank 0 to rank 1: the seconds per message.
double burst(int rank, dist::Tensor& t) {
  constexpr int at_once = 8;
  return best_of(4,
                 [&] {
                   std::vector<dist::Work> under_way;
                   for (int i = 0; i < at_once; ++i)
                     under_way.push_back(rank == 0 ? dist::isend(t, 1) : dist::irecv(t, 0));
                   for (auto& work : under_way) work.wait();
                 }) /
         at_once;
}

void measure(int rank) {
  dist::init_process_group();
  std::vector<lab::Point> ways, bursts;
  for (std::int64_t bytes = 8; bytes <= 4 << 20; bytes *= 8) {
    auto t = dist::zeros({bytes / 4});
    const auto size = static_cast<double>(bytes);
    ways.push_back({size, one_way(rank, t)});
    bursts.push_back({size, burst(rank, t)});
    if (rank == 0)
      say(fmt::format("   {:>8} bytes: one way {:>10}, each of a burst {:>10}", bytes,
                      in_us(ways.back().seconds), in_us(bursts.back().seconds)));
  }
  if (rank == 0) {
    const auto c = lab::costs_of(ways, bursts);
    say(fmt::format("   fitted: alpha {}, overhead {}, beta {:.3g} s/byte ({:.1f} GB/s)", in_us(c.alpha),
                    in_us(c.overhead), c.beta, 1e-9 / c.beta));
  }
  dist::barrier();
  dist::destroy_process_group();
}

// ---------------------------------------------------------------- 2 and 3: predict, simulate, choose

Topology topology_of(const Machine& machine) {
  const auto& c = machine.within;
  auto topology = Topology::uniform(c.overhead, c.alpha, c.beta);
  topology.gpus_per_node = topology.nics_per_node = machine.gpus;
  topology.inter = {machine.between.alpha, 1 / machine.between.beta};
  return topology;
}

double simulated(Algorithm algorithm, const Machine& machine, double bytes) {
  return dist::sim::simulate_collective({.algorithm = name(algorithm),
                                         .ranks = machine.ranks(),
                                         .bytes = static_cast<std::int64_t>(bytes)},
                                        topology_of(machine))
      .virtual_time_s;
}

// NVLink within a node, InfiniBand between nodes.
constexpr lab::Costs nvlink{0.6e-6, 0.5e-6, 1 / 300e9}, infiniband{2.7e-6, 0.5e-6, 1 / 25e9};

void compare(const Machine& machine, double bytes) {
  for (const auto algorithm : lab::all_algorithms) {
    const double said = lab::predict(algorithm, machine, bytes), is = simulated(algorithm, machine, bytes);
    say(fmt::format("   {:<20} predicted {:>10}   simulated {:>10}", name(algorithm), in_us(said),
                    in_us(is)));
  }
}

void choose() {
  for (const auto& [machine, what] : {std::pair{Machine{1, 8, nvlink, nvlink}, "one node of 8 GPUs"},
                                      {Machine{64, 1, infiniband, infiniband}, "64 nodes of one GPU"},
                                      {Machine{16, 8, nvlink, infiniband}, "16 nodes of 8 GPUs"}}) {
    for (const auto& [bytes, size] : {std::pair{8., "8 B"}, {65536., "64 KiB"}, {16777216., "16 MiB"}}) {
      const auto chosen = lab::choose(machine, bytes);
      say(fmt::format("   {:<20} {:>6}   {:<18} {:>10}", bytes == 8 ? what : "", size, name(chosen),
                      in_us(lab::predict(chosen, machine, bytes))));
    }
  }
}

// ------------------------------------------------------------------------------------------- 4: the headline

std::string in_ms(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

// Only the latencies count: no bytes, no overhead.
void headline() {
  constexpr int n = 24576;
  const auto at = [](double alpha) { return Machine{n, 1, {alpha, 0, 0}, {alpha, 0, 0}}; };
  say("   alpha           ring        tree    ring / tree");
  for (const double alpha : {1e-6, 2.7e-6, 0.18 / (2 * (n - 1)), 1e-3 / 30}) {
    const double ring = lab::predict(Algorithm::ring, at(alpha), 0),
                 tree = lab::predict(Algorithm::tree, at(alpha), 0);
    say(fmt::format("   {:>7}   {:>10}  {:>10}    {:>6.0f}", in_us(alpha), in_ms(ring), in_ms(tree),
                    ring / tree));
  }
  // Nodes with 6 GPUs: rings within the nodes, and rings of a sixth of the ranks across them.
  const double nodes = lab::predict(Algorithm::hierarchical, {n / 6, 6, {0.6e-6, 0, 0}, {2.7e-6, 0, 0}}, 0);
  say(fmt::format("   hierarchical, 4,096 nodes of 6 GPUs, alpha 0.6 us within and 2.7 us between: {}",
                  in_ms(nodes)));
}

// ------------------------------------------------------------------------------ 5: a billion parameters

void notes_costs() {
  constexpr double model = 4e9;  // a billion parameters, four bytes each
  say("   4 GB of gradients               all ranks send   the busiest sends");
  for (const int n : {8, 64}) {
    for (const auto algorithm : {Algorithm::parameter_server, Algorithm::naive, Algorithm::ring}) {
      const auto counted = lab::traffic(algorithm, n, model);
      const auto measured = dist::sim::simulate_collective(
          {.algorithm = name(algorithm), .ranks = n, .bytes = static_cast<std::int64_t>(model)},
          Topology::uniform(0, 1e-6, 1e-10));
      say(fmt::format("   {:>2} ranks, {:<18} {:>9.1f} GB {:>12.1f} GB   (simulated: {:.1f} GB, {:.2f} s)", n,
                      name(algorithm), counted.total / 1e9, counted.busiest / 1e9,
                      static_cast<double>(measured.max_bytes_sent_per_rank) / 1e9, measured.virtual_time_s));
    }
  }
}

// ------------------------------------------------------------------------------------- 6: across the nodes

std::uint64_t between_nodes(const std::function<void(dist::Tensor&)>& all_reduce) {
  dist::sim::RunOptions options;
  options.ranks = 16;
  options.topology = "dgx-a100-hdr";
  const auto report = story::well(dist::sim::run(options, [&](int) {
    dist::init_process_group();
    auto data = dist::ones({1 << 20});
    all_reduce(data);
    if (data.to_vector<float>().back() != 16) throw std::runtime_error("the sum is wrong");
  }));
  std::uint64_t bytes = 0;
  for (const auto of_card : report.card_bytes) bytes += of_card;
  say(fmt::format("      {} between the nodes, {}", story::in_bytes(bytes), in_us(report.virtual_time_s)));
  return bytes;
}

void over_nodes() {
  say("   your hierarchical_all_reduce:");
  between_nodes([](dist::Tensor& data) { lab::hierarchical_all_reduce(data, lab::make_groups(8)); });
  say("   a ring through all 16 GPUs:");
  between_nodes(
      [](dist::Tensor& data) { dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "ring"}); });
  say("   a double binary tree:");
  between_nodes([](dist::Tensor& data) {
    dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "double_binary_tree"});
  });
}

void tell() {
  say("1  Messages between two processes of this machine, measured");
  dist::spawn(2, measure);
  say("\n2  64 nodes with one GPU each, 64 KiB: predicted and simulated");
  compare({64, 1, infiniband, infiniband}, 65536);
  say("\n3  What to choose");
  choose();
  say("\n4  The headline: 24,576 GPUs, a few bytes");
  headline();
  say("\n5  A model of a billion parameters");
  notes_costs();
  say("\n6  4 MiB on two nodes of eight GPUs");
  over_nodes();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
