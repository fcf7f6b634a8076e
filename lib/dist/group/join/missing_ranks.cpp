#include "dist/group/join/missing_ranks.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/group/join/rendezvous_plan.h"
#include "dist/group/join/rendezvous_verdict.h"

namespace dist {

std::string describe_missing(const Job& job) {
  const int size = job.world_size;
  // The time is up: asking for every rank of a large world (or of a mistyped one) would take as long again.
  constexpr int shown = 16;
  int missing = 0;
  std::string names;
  for (int r = 0; r < size && missing < shown; ++r) {
    const std::string keys[]{join_key(r)};
    if (job.store->check(keys)) continue;
    names += fmt::format("{}{}", ++missing > 1 ? ", " : "", r);
  }
  if (missing == 0) return "all ranks had arrived, but one of them died while joining";
  if (missing == shown) {
    missing = std::max(shown, size - static_cast<int>(job.store->add(joined_key, 0)));
    if (missing > shown) names += fmt::format(" and {} more", missing - shown);
  }
  return fmt::format(
      "{} of {} ranks joined within {} ms at {}; missing: rank{} {}; {} started, and with the same address "
      "and world "
      "size?",
      size - missing, size, std::chrono::duration_cast<std::chrono::milliseconds>(job.timeout).count(),
      job.store->where(), missing > 1 ? "s" : "", names, missing > 1 ? "were they" : "was it");
}

}  // namespace dist
