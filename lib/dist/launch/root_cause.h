// One rank fails, and others fail because of it: finds the first. Used by spawn and distrun.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dist {

// How a rank ended, as its launcher saw it.
struct RankFailure {
  int rank = 0;
  std::chrono::steady_clock::time_point when;  // when that was noticed
  std::string what;            // its error's text, "exit code 3", "killed by signal 9 (Killed)"
  std::string last_words;      // its error's text, or the end of its stderr; empty after a signal
  bool blames_others = false;  // it ended with Error{peer_failed|aborted}: known to be a consequence
};

// The index of the failure from which the others follow. A failure is a consequence if it is known to be one,
// or if its last words name another rank that failed, too. Among the others it is the earliest; if all are
// consequences, the earliest of all. `failures` must not be empty.
std::size_t root_cause(std::span<const RankFailure> failures);

// The ranks that a text mentions: "rank 3", "ranks 1, 4 and 6".
std::vector<int> ranks_named(std::string_view text);

}  // namespace dist
