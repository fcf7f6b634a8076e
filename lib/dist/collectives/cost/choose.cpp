#include <algorithm>
#include <vector>

#include "dist/collectives/algorithms.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist {

namespace {

void check(OpKind collective, const World& at) {
  if (!is_collective(collective)) fail(Errc::internal, "choose: {} is not a collective", name(collective));
  if (at.ranks < 1 || at.nodes < 1 || at.nodes > at.ranks)
    fail(Errc::invalid_argument, "choose: {} on {}; there is at least one rank on each node",
         counted(at.ranks, "rank"), counted(at.nodes, "node"));
}

// These collectives are chosen without their size: every rank knows only its own parts.
bool hides_its_size(OpKind collective) {
  return collective == OpKind::scatter || collective == OpKind::gather || collective == OpKind::all_to_all;
}

std::string_view why_not(const AlgorithmEntry& entry, const World& at) {
  if (entry.is_baseline) return "a baseline, for comparison";
  if (entry.needs_equal_counts) return "counts may differ, and a rank knows only its own";
  if (entry.direct && !at.peers_mapped) return "ranks cannot map each other's memory";
  return {};
}

std::string as_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

}  // namespace

std::vector<Estimate> estimates(OpKind collective, std::size_t bytes, const World& at,
                                const CostModel& model) {
  check(collective, at);
  std::vector<Estimate> all;
  for (const AlgorithmEntry& entry : algorithms()) {
    if (entry.collective != collective) continue;
    const double seconds = at.ranks == 1 ? 0 : entry.seconds(model, at, static_cast<double>(bytes));
    all.push_back({&entry, seconds, why_not(entry, at)});
  }
  std::ranges::stable_sort(all, [](const Estimate& a, const Estimate& b) {
    if (a.not_considered.empty() != b.not_considered.empty()) return a.not_considered.empty();
    if (a.seconds != b.seconds) return a.seconds < b.seconds;
    return a.algorithm->direct && !b.algorithm->direct;  // on one rank, direct needs no transport
  });
  return all;
}

Choice choose(OpKind collective, std::size_t bytes, const World& at, const CostModel& model) {
  const std::vector<Estimate> all = estimates(collective, hides_its_size(collective) ? 0 : bytes, at, model);
  const std::string_view best = all[0].algorithm->name;
  if (at.ranks == 1)
    return {best, fmt::format("{}, because one rank has no other to communicate with", best)};
  std::string others;
  int named = 0;
  for (std::size_t i = 1; i < all.size() && all[i].not_considered.empty() && named < 3; ++i, ++named)
    others +=
        fmt::format("{}{} {}", others.empty() ? "" : ", ", all[i].algorithm->name, as_time(all[i].seconds));
  if (others.empty()) return {best, fmt::format("{}, the only one that takes any arguments", best)};
  const std::string size = hides_its_size(collective) ? "for 0 bytes (a rank knows only its own part)"
                                                      : fmt::format("for {}", counted(bytes, "byte"));
  return {best, fmt::format("{} is estimated at {} {} on {} ranks; the next are {}", best,
                            as_time(all[0].seconds), size, at.ranks, others)};
}

}  // namespace dist
