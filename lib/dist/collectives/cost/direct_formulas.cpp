// The formulas of the algorithms in mapped memory (direct/algorithms.h).
#include <algorithm>
#include <cmath>

#include "dist/collectives/cost/direct_sizes.h"
#include "dist/collectives/cost/formulas.h"

namespace dist::formulas {
namespace {

bool is_short(Model m, double bytes) {
  return bytes <= static_cast<double>(m.shares_cores() ? direct::room_bytes : direct::short_bytes);
}
double others(At at) { return at.ranks - 1; }
bool is_short_for_root(Model m, At at, double bytes) {
  return is_short(m, bytes) &&
         others(at) * bytes <= static_cast<double>(direct::root_reads(m.shares_cores()));
}
double share(At at) { return others(at) / at.ranks; }

}  // namespace

double direct_broadcast(Model m, At at, double bytes) {
  return is_short(m, bytes) ? m.handshake + 2 * m.copy * bytes : 2 * m.handshake + share(at) * m.copy * bytes;
}

double direct_reduce(Model m, At at, double bytes) {
  return is_short_for_root(m, at, bytes)
             ? m.handshake + m.copy * bytes + others(at) * m.sum(bytes)
             : 2 * m.handshake + m.copy * bytes / at.ranks + share(at) * m.sum(bytes);
}

double one_shot_all_reduce(Model m, At at, double bytes) {
  const double pieces = std::max(1.0, std::ceil(bytes / static_cast<double>(direct::room_bytes)));
  return pieces * m.handshake + at.ranks * m.copy * bytes + others(at) * m.sum(bytes);
}

double two_shot_all_reduce(Model m, At at, double bytes) {
  return 2 * m.handshake + m.copy * bytes + share(at) * m.sum(bytes);
}

double direct_scatter(Model m, At at, double bytes) { return 2 * m.handshake + m.copy * bytes / at.ranks; }
double direct_gather(Model m, At at, double bytes) {
  const bool is_paired = bytes / at.ranks >= static_cast<double>(direct::paired_bytes);
  return is_paired ? direct_scatter(m, at, bytes) : direct_all_gather(m, at, bytes);
}
double direct_all_gather(Model m, At at, double bytes) {
  return 2 * m.handshake + share(at) * m.copy * bytes;
}
double direct_reduce_scatter(Model m, At at, double bytes) {
  return is_short(m, bytes) ? m.handshake + share(at) * (m.copy * bytes + m.sum(bytes))
                            : 2 * m.handshake + share(at) * m.sum(bytes);
}
double direct_barrier(Model m, At, double) { return m.handshake; }

}  // namespace dist::formulas
