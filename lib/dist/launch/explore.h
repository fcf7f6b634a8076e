// sim::explore: one program under many schedules, in search of one that goes wrong.
#pragma once

#include <optional>
#include <string>

#include "dist/launch/simulate.h"

namespace dist::sim {

enum class Search { seeds, exhaustive };

struct ExploreOptions {
  Search search = Search::seeds;
  int runs = 100;  // at most
};

struct Exploration {
  int runs = 0;
  // Exhaustive search alone: there is no other schedule.
  bool complete = false;
  std::string seed;             // of the run that went wrong (RunOptions::seed); empty: the ordinary one
  std::optional<Report> wrong;  // the first report that is not ok()

  std::string text() const;  // "no finding in 100 schedules", or the seed and what went wrong
};

// The ordinary run first, then others until one goes wrong. What varies (sim/choices.h): whether sends wait
// for their receivers, which of several senders a receive from any source meets, what is_completed() says,
// who comes first at a store, and how early the network reads and writes buffers.
//
// Exhaustive search takes every combination, the number of which grows exponentially: programs of up to about
// 5 ranks and 20 operations. All sends of one run are of one kind then. That loses no deadlock: a program
// that goes on where all sends wait goes on where some do not, as long as messages meet in the same order. A
// is_completed() that is true may be answered wrongly twice at most for each operation.
Exploration explore(const RunOptions& options, const std::function<void(int rank)>& fn,
                    const ExploreOptions& how = {});

}  // namespace dist::sim
