// Do ranks wait for each other in a cycle? The lists are run, each message as a meeting of two ranks.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "dist/parallel/pipeline/places.h"

namespace dist::pipeline {
namespace {

class Run {
 public:
  Run(const Schedule& schedule, const Places& places, bool one_by_one)
      : lists_(schedule.ranks), places_(places), one_by_one_(one_by_one), next_(lists_.size(), 0) {
    for (const auto& list : lists_) through_.emplace_back(list.size(), false);
  }

  // Goes on until no rank can.
  void run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < lists_.size(); ++rank) progress |= advance(rank);
    }
  }

  // A rank that waits, or the number of ranks.
  std::size_t waiting() const {
    std::size_t rank = 0;
    while (rank < lists_.size() && next_[rank] == lists_[rank].size()) ++rank;
    return rank;
  }

  // The message for which a waiting rank waits, and where the other end of it is.
  const Action& message(std::size_t rank) const { return lists_[rank][index(rank)]; }
  std::size_t index(std::size_t rank) const {
    std::size_t i = next_[rank];
    while (through_[rank][i]) ++i;
    return i;
  }
  Place other_end(std::size_t rank) const { return *places_.of(partner(message(rank))); }

 private:
  // The end of the step that begins at next_[rank]: the messages that this rank has started.
  std::size_t started(std::size_t rank) const {
    const auto& list = lists_[rank];
    std::size_t end = next_[rank];
    while (end < list.size() && is_message(list[end].kind) && (!one_by_one_ || end == next_[rank])) ++end;
    return end;
  }
  bool has_started(Place place) const {
    return place.index >= next_[place.rank] && place.index < started(place.rank);
  }

  bool advance(std::size_t rank) {
    const auto& list = lists_[rank];
    const std::size_t before = next_[rank];
    while (next_[rank] < list.size()) {
      const std::size_t end = started(rank);
      for (std::size_t i = next_[rank]; i < end; ++i)
        if (const Place other = *places_.of(partner(list[i])); has_started(other))
          through_[rank][i] = through_[other.rank][other.index] = true;
      const auto step = std::next(through_[rank].begin(), static_cast<std::ptrdiff_t>(next_[rank]));
      if (!std::all_of(step, std::next(step, static_cast<std::ptrdiff_t>(end - next_[rank])),
                       std::identity{}))
        break;
      next_[rank] = std::max(end, next_[rank] + 1);  // a computation is a step of its own
    }
    return next_[rank] > before;
  }

  const std::vector<std::vector<Action>>& lists_;
  const Places& places_;
  const bool one_by_one_;
  std::vector<std::size_t> next_;           // action of each rank
  std::vector<std::vector<bool>> through_;  // messages of each rank
};

}  // namespace

std::string find_circle(const Schedule& schedule, const Places& places, bool one_by_one) {
  Run run(schedule, places, one_by_one);
  run.run();
  std::size_t rank = run.waiting();
  if (rank == schedule.ranks.size()) return {};
  // Each waiting rank waits for one that waits: after as many steps as there are ranks, we are in the cycle.
  for (std::size_t i = 0; i < schedule.ranks.size(); ++i) rank = run.other_end(rank).rank;
  constexpr int most = 4;  // ranks to be described
  std::string waits;
  int count = 0;
  const std::size_t first = rank;
  do {
    const std::size_t other = run.other_end(rank).rank;
    if (++count <= most)
      waits += fmt::format("{}rank {} waits for rank {} in the {} (#{})", count == 1 ? "" : ", ", rank, other,
                           text(run.message(rank)), run.index(rank));
    rank = other;
  } while (rank != first);
  if (count > most) waits += fmt::format(", and so on, in a cycle of {} ranks", count);
  return fmt::format("deadlock: {}", waits) +
         (one_by_one ? "; start the sends and receives of a step together" : "");
}

}  // namespace dist::pipeline
