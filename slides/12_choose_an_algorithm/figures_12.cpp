// Ring and tree on 24,576 GPUs: by lab 12's solution where only latencies count, and by Summit's figures.
// Also what a billion parameters cost at a parameter server.
#include <fmt/format.h>

#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

#include "choose_an_algorithm.h"

namespace {

using lab::Algorithm;

constexpr int ranks = 24'576, steps = 2 * (ranks - 1);

// Its messages take `alpha` seconds and nothing else.
lab::Machine machine(double alpha) { return {ranks, 1, {alpha, 0, 0}, {alpha, 0, 0}}; }

void believed(const char* name, double alpha) {
  const double ring = lab::predict(Algorithm::ring, machine(alpha), 0),
               tree = lab::predict(Algorithm::tree, machine(alpha), 0);
  fmt::print("{} {:.2g} {:.0f} {:.2g} {:.0f}\n", name, alpha * 1e6, ring * 1e3, tree * 1e3, ring / tree);
}

double us(const dist::sim::Cost& cost) { return static_cast<double>(cost.overhead + cost.latency) / 1e6; }

// The last of a node's six GPUs sends to another node, the others within their own.
void on_summit() {
  const auto summit = dist::sim::load_topology("summit");
  const double within = us(summit.cost_inside()), between = us(summit.cost_between());
  const double step = ((summit.gpus_per_node - 1) * within + between) / summit.gpus_per_node,
               ring_s = steps * step / 1e6;
  const auto tree = dist::sim::simulate_collective({.algorithm = "tree", .ranks = ranks, .bytes = 8}, summit);
  fmt::print("summit {:.1f} {:.1f} {:.2f} {:.0f} {:.0f}\n", within, between, step, ring_s * 1e3,
             ring_s / tree.virtual_time_s);
}

}  // namespace

int main() {
  believed("short", 1e-6);
  believed("as the ring", 0.18 / steps);
  believed("as the tree", 1e-3 / 30);
  fmt::print("steps {},{:03} {:.0f}\n", steps / 1000, steps % 1000,
             lab::predict(Algorithm::tree, machine(1), 0));
  on_summit();
  fmt::print("server {:.0f} GB\n", lab::traffic(Algorithm::parameter_server, 64, 4e9).busiest / 1e9);
}
