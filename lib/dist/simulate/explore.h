// sim::explore: runs one program under many schedules, to find one that goes wrong.
#pragma once

#include <optional>
#include <string>

#include "dist/simulate/simulate.h"

namespace dist::sim {

enum class Search { seeds, exhaustive };

struct ExploreOptions {
  Search search = Search::seeds;
  int runs = 100;  // at most this many
};

struct Exploration {
  int runs = 0;
  // Exhaustive search only: there is no other schedule.
  bool complete = false;
  std::string seed;             // the wrong run's (RunOptions::seed); empty: the ordinary one
  std::optional<Report> wrong;  // the first report that is not ok()

  std::string text() const;  // "no finding in 100 schedules", or the seed and what went wrong
};

// Makes the ordinary run first, then others until one goes wrong. What varies (sim/choices.h): whether sends
// wait for their receivers, which of several senders a receive from any source matches, what is_completed()
// says, which rank is first at a store, and how early the network reads and writes buffers.
//
// Exhaustive search tries every combination, and their number grows exponentially: it suits programs of up to
// about 5 ranks and 20 operations. All sends of a run are then of one kind. That loses no deadlock: a program
// that continues where all sends wait also continues where some do not, as long as messages match in the same
// order. An is_completed() that is true may be answered wrongly at most twice per operation.
Exploration explore(const RunOptions& options, const std::function<void(int rank)>& fn,
                    const ExploreOptions& how = {});

}  // namespace dist::sim
