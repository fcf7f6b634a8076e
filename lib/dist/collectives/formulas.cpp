#include "dist/collectives/formulas.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dist/collectives/ring_2d.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/trees.h"
#include "dist/transport/shared_area.h"
#include "dist/transport/tuning.h"

namespace dist::formulas {
namespace {

// Of the highest power of two <= n.
int folded_rounds(int n) { return ceil_log2(floor_pow2(n)); }
bool folds(int n) { return floor_pow2(n) != n; }

double segments_of(Model m, double bytes) { return std::max(1., std::ceil(bytes / m.segment)); }

// One phase of a ring of n ranks, `bytes` in all.
double ring_phase(Model m, int n, double bytes) { return (n - 1) * m.message(bytes / n); }
double ring_sums(Model m, int n, double bytes) { return (n - 1) * m.sum(bytes / n); }

double two_rings(Model m, int within, int across, double bytes) {
  const double share = bytes / within;
  return 2 * ring_phase(m, within, bytes) + ring_sums(m, within, bytes) + 2 * ring_phase(m, across, share) +
         ring_sums(m, across, share);
}

// Halving and the way back, each (p-1)/p S in log2 p messages.
double halving_there_and_back(Model m, int n, double bytes) {
  const int p = floor_pow2(n);
  const double moved = bytes - bytes / p;
  return 2 * (ceil_log2(p) * m.message(0) + m.beta * moved) + m.sum(moved);
}
// A first message of whoever need not wait can take the port before it.
double fold(Model m, double bytes, double first) { return m.message(bytes) + m.sum(bytes) + m.port(first); }

}  // namespace

double flat_broadcast(Model m, At at, double bytes) { return (at.ranks - 1) * m.port(bytes) + m.alpha; }

double binomial_broadcast(Model m, At at, double bytes) { return ceil_log2(at.ranks) * m.message(bytes); }

double chain_broadcast(Model m, At at, double bytes) {
  const double segment = std::min(bytes, m.segment);
  return (at.ranks - 1) * m.message(segment) + (segments_of(m, bytes) - 1) * m.overhead +
         m.beta * (bytes - segment);
}

double scatter_all_gather_broadcast(Model m, At at, double bytes) {
  return binomial_scatter(m, at, bytes) + ring_phase(m, at.ranks, bytes);
}

double flat_reduce(Model m, At at, double bytes) { return flat_broadcast(m, at, bytes) + m.sum(bytes); }

double binomial_reduce(Model m, At at, double bytes) {
  return ceil_log2(at.ranks) * (m.message(bytes) + m.sum(bytes)) + m.copy * bytes;
}

double rabenseifner_reduce(Model m, At at, double bytes) {
  const double rest = folds(at.ranks) ? fold(m, bytes, bytes / 2) : 0;
  return rest + halving_there_and_back(m, at.ranks, bytes) + m.copy * bytes;
}

double recursive_doubling_all_reduce(Model m, At at, double bytes) {
  const double rounds = folded_rounds(at.ranks) * (m.message(bytes) + m.sum(bytes));
  return folds(at.ranks) ? rounds + 2 * m.message(bytes) + m.sum(bytes) + m.port(bytes) : rounds;
}

double rabenseifner_all_reduce(Model m, At at, double bytes) {
  const double rest = folds(at.ranks) ? fold(m, bytes, bytes / 2) + m.message(bytes) : 0;
  return rest + halving_there_and_back(m, at.ranks, bytes);
}

double ring_all_reduce(Model m, At at, double bytes) {
  return 2 * ring_phase(m, at.ranks, bytes) + ring_sums(m, at.ranks, bytes);
}

double ring_segmented_all_reduce(Model m, At at, double bytes) {
  const int n = at.ranks, count = segments_of_chunk(static_cast<std::int64_t>(std::ceil(bytes)), n,
                                                    static_cast<std::int64_t>(m.segment));
  const double segment = bytes / n / count, port = m.port(segment), under_way = segments_under_way(count);
  const double summed = count * std::max(port, (port + m.alpha + m.sum(segment)) / under_way);
  const double copied = count * std::max(port, (port + m.alpha) / under_way);
  return (n - 1) * summed + (n - 2) * copied + count * port + m.alpha;
}

double ring_2d_all_reduce(Model m, At at, double bytes) {
  const int rows = rows_of_grid(at.ranks);
  return two_rings(m, at.ranks / rows, rows, bytes);
}

double hierarchical_all_reduce(Model m, At at, double bytes) {
  return two_rings(m, std::max(1, at.ranks / at.nodes), at.nodes, bytes);
}

// The first segment's way up and down; then an inner rank's port takes three messages for each segment.
double tree_all_reduce(Model m, At at, double bytes) {
  const int depth = ceil_log2(at.ranks);
  const double segment = std::min(bytes, m.segment);
  const double first =
      (4 * depth - 2) * m.port(segment) + 2 * depth * m.alpha + (2 * depth - 1) * m.sum(segment);
  const double count = segments_of(m, bytes);
  return first + 3 * ((count - 1) * m.overhead + m.beta * (bytes - segment));
}

double double_binary_tree_all_reduce(Model m, At at, double bytes) {
  const int depth = ceil_log2(at.ranks);
  const double half = bytes / 2, segment = std::min(half, m.segment);
  const double first =
      (4 * depth - 2) * m.port(segment) + 2 * depth * m.alpha + (2 * depth - 1) * m.sum(segment);
  const double count = segments_of(m, half);
  return first + 4 * ((count - 1) * (m.overhead + m.alpha) + m.beta * (half - segment));
}

double reduce_broadcast_all_reduce(Model m, At at, double bytes) {
  return binomial_reduce(m, at, bytes) + binomial_broadcast(m, at, bytes);
}

double parameter_server_all_reduce(Model m, At at, double bytes) {
  return flat_reduce(m, at, bytes) + flat_broadcast(m, at, bytes);
}

double naive_exchange_all_reduce(Model m, At at, double bytes) {
  return (at.ranks - 1) * (m.message(bytes) + m.sum(bytes)) + m.copy * 2 * bytes;
}

double flat_scatter(Model m, At at, double bytes) {
  return (at.ranks - 1) * m.port(bytes / at.ranks) + m.alpha;
}

double binomial_scatter(Model m, At at, double bytes) {
  return ceil_log2(at.ranks) * m.message(0) + m.beta * (bytes - bytes / at.ranks);
}

double ring_all_gather(Model m, At at, double bytes) { return ring_phase(m, at.ranks, bytes); }

double bruck_all_gather(Model m, At at, double bytes) {
  return binomial_scatter(m, at, bytes) + m.copy * bytes;
}

double ring_reduce_scatter(Model m, At at, double bytes) {
  return ring_phase(m, at.ranks, bytes) + ring_sums(m, at.ranks, bytes);
}

double halving_reduce_scatter(Model m, At at, double bytes) {
  const int n = at.ranks, p = floor_pow2(n), beyond = n - p;
  const double largest_half = static_cast<double>(p / 2 + std::min(p / 2, beyond)) / n * bytes;
  double halves = 0;
  for (int distance = 1; distance < p; distance *= 2)
    halves += static_cast<double>(distance + std::min(distance, beyond)) / n * bytes;
  const double rest = folds(n) ? fold(m, bytes, largest_half) + m.message(bytes / n) : 0;
  return rest + ceil_log2(p) * m.message(0) + m.beta * halves + m.sum(halves) + m.copy * bytes;
}

double bruck_all_to_all(Model m, At at, double bytes) {
  double hops = 0;  // of all shares
  for (int distance = 1; distance < at.ranks; ++distance)
    hops += std::popcount(static_cast<unsigned>(distance));
  const double moved = hops / at.ranks * bytes;
  return ceil_log2(at.ranks) * m.message(0) + m.beta * moved + m.copy * (2 * bytes + 2 * moved);
}

double dissemination_barrier(Model m, At at, double) { return ceil_log2(at.ranks) * m.message(0); }

namespace {

bool is_short(double bytes) { return bytes <= static_cast<double>(net::short_bytes); }
double others(At at) { return at.ranks - 1; }
double share(At at) { return others(at) / at.ranks; }

}  // namespace

double direct_broadcast(Model m, At at, double bytes) {
  return is_short(bytes) ? m.handshake + 2 * m.copy * bytes : 2 * m.handshake + share(at) * m.copy * bytes;
}

double direct_reduce(Model m, At at, double bytes) {
  return is_short(bytes) ? m.handshake + m.copy * bytes + others(at) * m.sum(bytes)
                         : 2 * m.handshake + m.copy * bytes / at.ranks + share(at) * m.sum(bytes);
}

double one_shot_all_reduce(Model m, At at, double bytes) {
  const double pieces = std::max(1.0, std::ceil(bytes / static_cast<double>(net::shown_bytes)));
  return pieces * m.handshake + 2 * at.ranks * m.copy * bytes + others(at) * m.sum(bytes);
}

double two_shot_all_reduce(Model m, At at, double bytes) {
  return 2 * m.handshake + m.copy * bytes + share(at) * m.sum(bytes);
}

double direct_scatter(Model m, At at, double bytes) { return 2 * m.handshake + m.copy * bytes / at.ranks; }
double direct_gather(Model m, At at, double bytes) { return 2 * m.handshake + share(at) * m.copy * bytes; }
double direct_all_gather(Model m, At at, double bytes) {
  return 2 * m.handshake + share(at) * m.copy * bytes;
}
double direct_reduce_scatter(Model m, At at, double bytes) {
  return 2 * m.handshake + share(at) * m.sum(bytes);
}
double direct_barrier(Model m, At, double) { return m.handshake; }

}  // namespace dist::formulas
