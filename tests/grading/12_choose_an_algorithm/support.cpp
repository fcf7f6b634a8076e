// Lab 12: machines, and their times in the simulator.
#include "support.h"

#include <fmt/format.h>

#include "dist/simulate/simulate_collective.h"

namespace lab12 {
namespace {

Costs drawn_costs(judge::Random& random, double least_bandwidth, double most_alpha_us) {
  return {.alpha = (0.3 + random.between(0, 100) / 100. * most_alpha_us) * 1e-6,
          .overhead = random.between(20, 90) * 1e-8,
          .beta = 1 / (least_bandwidth * (1 + random.between(0, 100) / 100.))};
}

dist::sim::Topology topology_of(const Machine& machine) {
  auto topology =
      dist::sim::Topology::uniform(machine.within.overhead, machine.within.alpha, machine.within.beta);
  topology.gpus_per_node = topology.nics_per_node = machine.gpus;
  topology.inter = {machine.between.alpha, 1 / machine.between.beta};
  return topology;
}

int levels(int n) {
  int deep = 0;
  while ((1 << deep) < n) ++deep;
  return deep;
}

}  // namespace

std::string Machine::text() const {
  const auto costs = [](const Costs& c) {
    return fmt::format("alpha {:.2f} us, overhead {:.2f} us, {:.1f} GB/s", c.alpha * 1e6, c.overhead * 1e6,
                       1e-9 / c.beta);
  };
  if (nodes == 1) return fmt::format("one node of {} GPUs ({})", gpus, costs(within));
  return fmt::format("{} nodes of {} GPUs (within: {}; between: {})", nodes, gpus, costs(within),
                     costs(between));
}

std::string Question::text() const {
  return fmt::format("{}, {} bytes, {}", name(algorithm), bytes, machine.text());
}

const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring: return "ring";
    case Algorithm::tree: return "tree";
    case Algorithm::double_tree: return "double_tree";
    case Algorithm::parameter_server: return "parameter_server";
    case Algorithm::naive: return "naive";
    case Algorithm::hierarchical: return "hierarchical";
  }
  __builtin_unreachable();
}

// The links between nodes, of which it has none, are slower.
Machine one_node(judge::Random& random, int gpus) {
  Machine machine{1, gpus, drawn_costs(random, 5e9, 3), {}};
  machine.between = {machine.within.alpha * 3, machine.within.overhead, machine.within.beta * 10};
  return machine;
}

Machine several_nodes(judge::Random& random, int nodes, int gpus) {
  Machine machine{nodes, gpus, drawn_costs(random, 100e9, 1), drawn_costs(random, 8e9, 4)};
  machine.between.overhead = machine.within.overhead;  // a simulated machine has one overhead for all links
  return machine;
}

double simulated(const Question& question) {
  std::string algorithm = name(question.algorithm);
  if (question.algorithm == Algorithm::double_tree) algorithm = "double_binary_tree";
  if (question.algorithm == Algorithm::naive) algorithm = "naive_exchange";
  return dist::sim::simulate_collective(
             {.algorithm = algorithm, .ranks = question.machine.ranks(), .bytes = question.bytes},
             topology_of(question.machine))
      .virtual_time_s;
}

double computed(const Question& question) {
  const auto& [algorithm, machine, bytes] = question;
  const int n = machine.ranks(), deep = levels(n);
  const Costs& c = machine.slowest();
  const auto size = static_cast<double>(bytes);
  const auto port = [](const Costs& of, double b) { return of.overhead + of.beta * b; };
  const auto tree = [&](double b) { return (4 * deep - 2) * port(c, b) + 2 * deep * c.alpha; };
  const auto ring = [&](const Costs& of, int ranks, double b) {
    return 2 * (ranks - 1) * (port(of, b / ranks) + of.alpha);
  };
  switch (algorithm) {
    case Algorithm::ring: return ring(c, n, size);
    case Algorithm::tree: return tree(size);
    case Algorithm::double_tree: return tree(size / 2);
    case Algorithm::parameter_server: return 2 * ((n - 1) * port(c, size) + c.alpha);
    case Algorithm::naive: return (n - 1) * (port(c, size) + c.alpha);
    case Algorithm::hierarchical:
      return ring(machine.within, machine.gpus, size) +
             ring(machine.between, machine.nodes, size / machine.gpus);
  }
  __builtin_unreachable();
}

}  // namespace lab12
