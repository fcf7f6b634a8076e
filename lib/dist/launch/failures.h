// Failures: the ranks of a spawn that failed, and what is said about them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/launch/child_process.h"
#include "dist/launch/oom_kills.h"
#include "dist/launch/root_cause.h"

namespace dist {

class Failures {
 public:
  // Returns whether it is the first. `what`, `last_words`, `blames_others`: see RankFailure.
  bool note(int rank, const std::string& what, const std::string& last_words, bool blames_others);
  bool has(int rank) const;
  // "rank 1 was killed by signal 9 (Killed)". `status`: of waitpid(2).
  std::string describe(int rank, int status) const;
  // Says which ranks are killed because they are still there, `grace` after the first failure.
  void log_late(const std::deque<ChildProcess>& ranks, Timeout grace) const;
  void raise_first() const;  // throws Error{peer_failed} with the root cause; does nothing if no rank failed

 private:
  const OomKills oom_kills_;
  std::vector<RankFailure> all_;
};

}  // namespace dist
