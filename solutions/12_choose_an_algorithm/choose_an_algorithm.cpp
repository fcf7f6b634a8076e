// Lab 12, the solution. NOTES.md explains it.
#include "choose_an_algorithm.h"

#include <algorithm>

#include "dist/dist.h"

namespace lab {

// Solves the two normal equations of least squares. Each point has the weight 1 / seconds^2.
Line fit_line(const std::vector<Point>& points) {
  double w = 0, wx = 0, wxx = 0, wt = 0, wxt = 0;
  for (const auto& [bytes, seconds] : points) {
    const double weight = 1 / (seconds * seconds);
    w += weight;
    wx += weight * bytes;
    wxx += weight * bytes * bytes;
    wt += weight * seconds;
    wxt += weight * bytes * seconds;
  }
  const double per_byte = (w * wxt - wx * wt) / (w * wxx - wx * wx);
  return {(wt - per_byte * wx) / w, per_byte};
}

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  const Line way = fit_line(one_way), port = fit_line(burst);
  return {way.at_zero - port.at_zero, port.at_zero, (way.per_byte + port.per_byte) / 2};
}

namespace {

int ceil_log2(int n) {
  int levels = 0;
  while ((1 << levels) < n) ++levels;
  return levels;
}

double port(const Costs& c, double bytes) { return c.overhead + c.beta * bytes; }

// One phase of a ring: n - 1 steps, each of which waits for the message of the step before.
double ring_phase(const Costs& c, int n, double bytes) { return (n - 1) * (port(c, bytes / n) + c.alpha); }

// On each level two children take turns at their parent's port, once up, once down; the root has one child.
double one_tree(const Costs& c, int n, double bytes) {
  const int levels = ceil_log2(n);
  return (4 * levels - 2) * port(c, bytes) + 2 * levels * c.alpha;
}

double over_nodes(const Machine& m, double bytes) {
  return 2 * ring_phase(m.within, m.gpus, bytes) + 2 * ring_phase(m.between, m.nodes, bytes / m.gpus);
}

}  // namespace

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  switch (algorithm) {
    case Algorithm::ring: return 2 * ring_phase(c, n, bytes);
    case Algorithm::tree: return one_tree(c, n, bytes);
    case Algorithm::double_tree: return one_tree(c, n, bytes / 2);
    case Algorithm::parameter_server: return 2 * (n - 1) * port(c, bytes) + 2 * c.alpha;
    case Algorithm::naive: return (n - 1) * (port(c, bytes) + c.alpha);
    case Algorithm::hierarchical: return over_nodes(machine, bytes);
  }
  __builtin_unreachable();
}

Traffic traffic(Algorithm algorithm, int ranks, double bytes) {
  const double n = ranks, links = n - 1;
  switch (algorithm) {
    case Algorithm::ring: return {2 * links * bytes, 2 * links / n * bytes};
    case Algorithm::tree: return {2 * links * bytes, 3 * bytes};
    case Algorithm::double_tree: return {2 * links * bytes, 2 * bytes};
    case Algorithm::parameter_server: return {2 * links * bytes, links * bytes};
    case Algorithm::naive: return {n * links * bytes, links * bytes};
    case Algorithm::hierarchical: break;
  }
  return {};
}

Algorithm choose(const Machine& machine, double bytes) {
  return *std::ranges::min_element(all_algorithms, {},
                                   [&](Algorithm a) { return predict(a, machine, bytes); });
}

// Every rank makes all groups, first within the nodes, then across them, whether it is a member or not.
Groups make_groups(int gpus) {
  const int rank = dist::get_rank(), nodes = dist::get_world_size() / gpus;
  Groups mine;
  for (int node = 0; node < nodes; ++node) {
    std::vector<int> ranks;
    for (int gpu = 0; gpu < gpus; ++gpu) ranks.push_back(node * gpus + gpu);
    const auto group = dist::new_group(ranks);
    if (rank / gpus == node) mine.within = group;
  }
  for (int gpu = 0; gpu < gpus; ++gpu) {
    std::vector<int> ranks;
    for (int node = 0; node < nodes; ++node) ranks.push_back(node * gpus + gpu);
    const auto group = dist::new_group(ranks);
    if (rank % gpus == gpu) mine.across = group;
  }
  return mine;
}

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto part = dist::empty({data.numel() / groups.within.size()}, data.dtype());
  dist::reduce_scatter_tensor(part, data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(part, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  dist::all_gather_into_tensor(data, part, {.group = groups.within});
}

}  // namespace lab
