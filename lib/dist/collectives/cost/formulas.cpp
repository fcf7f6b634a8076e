// The formulas, grouped by collective and in the order of formulas.h. In front of them is what they are made
// of: sums over distances, phases of rings, halving, and a binary tree's way up and down; the costs of
// messages on several nodes come from link_times.h.
#include "dist/collectives/cost/formulas.h"

#include <algorithm>
#include <cmath>

#include "dist/collectives/cost/link_times.h"
#include "dist/collectives/ring_2d.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/trees.h"

namespace dist::formulas {
namespace {

bool folds(int n) { return floor_pow2(n) != n; }

double segments_of(Model m, double bytes) { return std::max(1., std::ceil(bytes / m.segment)); }

// The sum of seconds(distance) for distance 1, 2, 4, ... below n.
template <class Seconds>
double over_distances(int n, const Seconds& seconds) {
  double sum = 0;
  for (int distance = 1; distance < n; distance *= 2) sum += seconds(distance);
  return sum;
}

// One phase of a ring of n ranks with `bytes` in all. It is as fast as its slowest link.
double ring_phase(Model m, int n, double bytes) { return (n - 1) * m.message(bytes / n); }
double ring_sums(Model m, int n, double bytes) { return (n - 1) * m.sum(bytes / n); }

// `along` and `crossing`: the seconds of a message in a ring within, and in one across.
template <class Along, class Crossing>
double two_rings(Model m, int within, int across, double bytes, const Along& along,
                 const Crossing& crossing) {
  const double share = bytes / within;
  return 2 * (within - 1) * along(share) + ring_sums(m, within, bytes) +
         2 * (across - 1) * crossing(share / across) + ring_sums(m, across, share);
}

// The halving among p ranks, p the highest power of two <= n: afterwards each has 1/p of the sum.
double halving(Model m, At at, double bytes) {
  const int p = floor_pow2(at.ranks);
  const LinkTimes ways(m, at);
  return over_distances(p, [&](int d) { return ways.swap(d, bytes * d / p); }) + m.sum(bytes - bytes / p);
}
// The first message of a rank that need not wait can take the port before it: `first` is that message's size.
double fold(Model m, At at, double bytes, double first) {
  return LinkTimes(m, at).fold(bytes) + m.sum(bytes) + m.port(first);
}

// A binary tree's way up and down for one segment: an inner rank's port takes three messages, and one waits.
double up_and_down(Model m, At at, double segment) {
  const int depth = ceil_log2(at.ranks);
  const LinkTimes ways(m, at);
  const int far = std::min(depth, ways.far_levels());
  const double near_port = ways.near_port(segment), far_port = m.port(segment);
  const double ports =
      4 * ((depth - far) * near_port + far * far_port) - 2 * (far > 0 ? far_port : near_port);
  const double way = 2 * ((depth - far) * (ways.near(segment) - near_port) + far * m.alpha);
  return ports + way + (2 * depth - 1) * m.sum(segment);
}

}  // namespace

double flat_broadcast(Model m, At at, double bytes) { return LinkTimes(m, at).serve_all(bytes); }

double binomial_broadcast(Model m, At at, double bytes) {
  const LinkTimes ways(m, at);
  return over_distances(at.ranks, [&](int d) { return ways.climb(d, bytes); });
}

double chain_broadcast(Model m, At at, double bytes) {
  const double segment = std::min(bytes, m.segment);
  return (at.nodes - 1) * m.message(segment) + (at.ranks - at.nodes) * LinkTimes(m, at).near(segment) +
         (segments_of(m, bytes) - 1) * m.overhead + m.beta * (bytes - segment);
}

double scatter_all_gather_broadcast(Model m, At at, double bytes) {
  return binomial_scatter(m, at, bytes) + ring_phase(m, at.ranks, bytes);
}

double scatter_bruck_broadcast(Model m, At at, double bytes) {
  const LinkTimes ways(m, at);
  const auto part = [&](int d) { return std::min(d, at.ranks - d) * bytes / at.ranks; };
  const double split = folds(at.ranks) ? (ceil_log2(at.ranks) - 1) * m.overhead : 0;
  return binomial_scatter(m, at, bytes) + split +
         over_distances(at.ranks, [&](int d) { return ways.shift(d, part(d)); });
}

double flat_reduce(Model m, At at, double bytes) { return flat_broadcast(m, at, bytes) + m.sum(bytes); }

double binomial_reduce(Model m, At at, double bytes) {
  return binomial_broadcast(m, at, bytes) + ceil_log2(at.ranks) * m.sum(bytes) + m.copy * bytes;
}

double rabenseifner_reduce(Model m, At at, double bytes) {
  const int p = floor_pow2(at.ranks);
  const LinkTimes ways(m, at);
  const double rest = folds(at.ranks) ? fold(m, at, bytes, bytes / 2) : 0;
  const double gather = over_distances(p, [&](int d) { return ways.climb(d, bytes * d / p); });
  return rest + halving(m, at, bytes) + gather + m.copy * bytes;
}

double chain_reduce(Model m, At at, double bytes) {
  const double segment = std::min(bytes, m.segment), summed = m.sum(segment);
  const double later = segments_of(m, bytes) - 1, rest = bytes - segment;
  const double ports = later * m.overhead + m.beta * rest, sums = m.sum(rest);
  const double first = (at.nodes - 1) * m.message(segment) +
                       (at.ranks - at.nodes) * LinkTimes(m, at).near(segment) + (at.ranks - 1) * summed;
  return first + (at.ranks > 2 ? ports + sums : std::max(ports, sums));
}

double recursive_doubling_all_reduce(Model m, At at, double bytes) {
  const LinkTimes ways(m, at);
  const double rounds =
      over_distances(floor_pow2(at.ranks), [&](int d) { return ways.swap(d, bytes) + m.sum(bytes); });
  return folds(at.ranks) ? rounds + fold(m, at, bytes, bytes) + ways.fold(bytes) : rounds;
}

double rabenseifner_all_reduce(Model m, At at, double bytes) {
  const int p = floor_pow2(at.ranks);
  const LinkTimes ways(m, at);
  const double rest = folds(at.ranks) ? fold(m, at, bytes, bytes / 2) + ways.fold(bytes) : 0;
  const double doubling = over_distances(p, [&](int d) { return ways.swap(d, bytes * d / p); });
  return rest + halving(m, at, bytes) + doubling;
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
  const int rows = rows_of_grid(at.ranks), columns = at.ranks / rows;
  const LinkTimes ways(m, at);
  return two_rings(
      m, columns, rows, bytes, [&](double part) { return ways.along_row(columns, part); },
      [&](double part) { return ways.shift(columns, part); });
}

// The last node may have fewer ranks: then as many take part on each other node, and the remaining ranks hand
// them their data.
double hierarchical_all_reduce(Model m, At at, double bytes) {
  const int most = (at.ranks + at.nodes - 1) / at.nodes, last = at.ranks - (at.nodes - 1) * most;
  const int within = last > 0 ? last : at.ranks / at.nodes, turns = (most - 1) / within;
  const LinkTimes ways(m, at);
  const double handed = turns * (2 * ways.near(bytes) + m.sum(bytes));
  return handed + two_rings(
                      m, within, at.nodes, bytes, [&](double part) { return ways.near(part); },
                      [&](double part) { return ways.far(part, within); });
}

// The first segment's way up and down; then an inner rank's port takes three messages per segment.
double tree_all_reduce(Model m, At at, double bytes) {
  const double segment = std::min(bytes, m.segment), count = segments_of(m, bytes);
  return up_and_down(m, at, segment) + 3 * ((count - 1) * m.overhead + m.beta * (bytes - segment));
}

double double_binary_tree_all_reduce(Model m, At at, double bytes) {
  const double half = bytes / 2, segment = std::min(half, m.segment), count = segments_of(m, half);
  return up_and_down(m, at, segment) + 4 * ((count - 1) * (m.overhead + m.alpha) + m.beta * (half - segment));
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

double flat_scatter(Model m, At at, double bytes) { return LinkTimes(m, at).serve_all(bytes / at.ranks); }

double binomial_scatter(Model m, At at, double bytes) {
  const LinkTimes ways(m, at);
  return over_distances(at.ranks,
                        [&](int d) { return ways.climb(d, std::min(d, at.ranks - d) * bytes / at.ranks); });
}

double ring_all_gather(Model m, At at, double bytes) { return ring_phase(m, at.ranks, bytes); }

double pairwise_all_gather(Model m, At at, double bytes) {
  return LinkTimes(m, at).all_shifts(bytes / at.ranks);
}

double bruck_all_gather(Model m, At at, double bytes) {
  const LinkTimes ways(m, at);
  const auto part = [&](int d) { return std::min(d, at.ranks - d) * bytes / at.ranks; };
  return over_distances(at.ranks, [&](int d) { return ways.shift(d, part(d)); }) + m.copy * bytes;
}

double recursive_doubling_all_gather(Model m, At at, double bytes) {
  if (folds(at.ranks)) return bruck_all_gather(m, at, bytes);
  const LinkTimes ways(m, at);
  return over_distances(at.ranks, [&](int d) { return ways.swap(d, bytes * d / at.ranks); }) + m.copy * bytes;
}

double ring_reduce_scatter(Model m, At at, double bytes) {
  return ring_phase(m, at.ranks, bytes) + ring_sums(m, at.ranks, bytes);
}

double pairwise_reduce_scatter(Model m, At at, double bytes) {
  return pairwise_all_gather(m, at, bytes) + ring_sums(m, at.ranks, bytes);
}

double halving_reduce_scatter(Model m, At at, double bytes) {
  const int n = at.ranks, p = floor_pow2(n), beyond = n - p;
  const LinkTimes ways(m, at);
  const auto half = [&](int d) { return static_cast<double>(d + std::min(d, beyond)) / n * bytes; };
  const double rest = folds(n) ? fold(m, at, bytes, half(p / 2)) + ways.fold(bytes / n) : 0;
  const double halves = over_distances(p, [&](int d) { return ways.swap(d, half(d)) + m.sum(half(d)); });
  return rest + halves + m.copy * bytes;
}

double ring_2d_reduce_scatter(Model m, At at, double bytes) {
  const int rows = rows_of_grid(at.ranks), columns = at.ranks / rows;
  if (rows == 1) return ring_reduce_scatter(m, at, bytes);
  const LinkTimes ways(m, at);
  const double row = bytes / rows;
  return (rows - 1) * ways.shift(columns, row) + ring_sums(m, rows, bytes) +
         (columns - 1) * ways.along_row(columns, row / columns) + ring_sums(m, columns, row) + m.copy * bytes;
}

double bruck_all_to_all(Model m, At at, double bytes) {
  const int n = at.ranks;
  const LinkTimes ways(m, at);
  // The number of parts that travel over distance d.
  const auto shares = [n](int d) { return n / (2 * d) * d + std::max(0, n % (2 * d) - d); };
  double moved = 0;
  const double rounds = over_distances(n, [&](int d) {
    const double part = shares(d) * bytes / n;
    moved += part;
    return ways.shift(d, part);
  });
  return rounds + m.copy * (2 * bytes + 2 * moved);
}

double dissemination_barrier(Model m, At at, double) { return ceil_log2(at.ranks) * m.message(0); }

}  // namespace dist::formulas
