#include "dist/group/join/missing_ranks.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/log.h"

namespace dist {
namespace {

bool has(Store& store, const std::string& key) { return store.check(std::span(&key, 1)); }

// How many ranks the launcher has started; it is written when the first of them has ended.
std::string started_key(int restart_count) { return fmt::format("ended/{}", restart_count); }
std::string ended_key(int restart_count, int rank) { return fmt::format("ended/{}/{}", restart_count, rank); }

}  // namespace

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

// Where fewer ranks join than were started, they may have other numbers: then the ends of started ranks say
// nothing.
std::optional<Verdict> without_those_who_ended(Store& base, Store& place, const Job& job) {
  const std::string started = started_key(job.restart_count);
  if (!has(base, started) || base.get_text(started, Deadline::never()) != std::to_string(job.world_size))
    return std::nullopt;
  for (int rank = 0; rank < job.world_size; ++rank) {
    if (!has(base, ended_key(job.restart_count, rank)) || has(place, join_key(rank))) continue;
    return Verdict::bad(Errc::peer_failed,
                        fmt::format("rank {} has ended without calling it{}; every rank must", rank,
                                    job.generation > 0 ? " again" : ""));
  }
  return std::nullopt;
}

void cancel_rendezvous(const std::shared_ptr<Store>& base, int restart_count,
                       const std::string& why) noexcept {
  try {
    const Verdict verdict = Verdict::bad(Errc::peer_failed, why);
    for (int generation = 0;; ++generation) {  // joinings that have a verdict are over
      if (verdict.propose(*meeting_place(base, restart_count, generation)).text == verdict.text) return;
    }
  } catch (const std::exception& error) {
    log(LogLevel::info, "cannot tell the other ranks that {}: {}", why, error.what());
  }
}

void note_end(const std::shared_ptr<Store>& base, int restart_count, int rank, int world_size) noexcept {
  try {
    base->set(ended_key(restart_count, rank), "yes");
    base->set(started_key(restart_count), std::to_string(world_size));
    Job waiting;
    waiting.world_size = world_size;
    waiting.restart_count = restart_count;
    for (;; ++waiting.generation) {
      const auto place = meeting_place(base, restart_count, waiting.generation);
      if (has(*place, verdict_key)) continue;  // it is over
      if (!has(*place, world_size_key)) return;
      if (const auto verdict = without_those_who_ended(*base, *place, waiting)) verdict->propose(*place);
      return;
    }
  } catch (const std::exception& error) {
    log(LogLevel::info, "cannot tell the other ranks that rank {} has ended: {}", rank, error.what());
  }
}

}  // namespace dist
