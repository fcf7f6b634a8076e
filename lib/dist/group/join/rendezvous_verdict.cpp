#include "dist/group/join/rendezvous_verdict.h"

#include <sstream>

#include <fmt/format.h>

#include "dist/core/log.h"
#include "dist/group/join/rendezvous_plan.h"

namespace dist {
namespace {

bool has(Store& store, const std::string& key) { return store.check(std::span(&key, 1)); }

// How many ranks the launcher has started; it is written when the first of them has ended.
std::string started_key(int restart_count) { return fmt::format("ended/{}", restart_count); }
std::string ended_key(int restart_count, int rank) { return fmt::format("ended/{}/{}", restart_count, rank); }

}  // namespace

Verdict Verdict::good(const std::string& token, const std::vector<int>& hosts) {
  std::string text = "ok " + token;
  for (int host : hosts) text += fmt::format(" {}", host);
  return {text};
}

Verdict Verdict::bad(Errc code, const std::string& why) {
  return {fmt::format("{} {}", static_cast<int>(code), why)};
}

Verdict Verdict::propose(Store& place) const {
  return {to_string(place.compare_set(verdict_key, {}, to_bytes(text)))};
}

void Verdict::read_into(Job& job) const {
  std::istringstream in(text);
  std::string word;
  in >> word;
  if (word != "ok") throw Error(static_cast<Errc>(std::stoi(word)), text.substr(word.size() + 1));
  in >> job.token;
  job.hosts.clear();
  for (int host; in >> host;) job.hosts.push_back(host);
}

StatedSize StatedSize::parse(const std::string& text) {
  StatedSize stated;
  std::istringstream(text) >> stated.world_size >> stated.by;
  return stated;
}

std::string StatedSize::text() const { return fmt::format("{} {}", world_size, by); }

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
