// One rank fails, and the others fail because of it: which was first? Shared by spawn and distrun.
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
  std::chrono::steady_clock::time_point when;  // noticed
  std::string what;        // its error's text, "exit code 3", "killed by signal 9 (Killed)"
  std::string last_words;  // its error's text, or the end of its stderr; empty when it was killed by a signal
  bool blames_others = false;  // known to be a consequence: it ended with Error{peer_failed|aborted}
};

// The index of the failure that the others follow from. A failure is a consequence when it is known to be
// one, or when its last words name another rank that failed too. Of the others the earliest; when all are
// consequences, the earliest of all. `failures` is not empty.
std::size_t root_cause(std::span<const RankFailure> failures);

// The ranks that a text speaks of: "rank 3", "ranks 1, 4 and 6".
std::vector<int> ranks_named(std::string_view text);

}  // namespace dist
