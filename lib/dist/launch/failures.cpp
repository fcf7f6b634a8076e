#include "dist/launch/failures.h"

#include <algorithm>

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "dist/check/who.h"
#include "dist/core/log.h"
#include "dist/group/run_rank.h"

namespace dist {

bool Failures::note(int rank, const std::string& what, const std::string& last_words, bool blames_others) {
  all_.push_back({rank, std::chrono::steady_clock::now(), what, last_words, blames_others});
  return all_.size() == 1;
}

bool Failures::has(int rank) const {
  return std::ranges::any_of(all_, [&](const RankFailure& f) { return f.rank == rank; });
}

std::string Failures::describe(int rank, int status) const {
  if (!WIFSIGNALED(status)) return fmt::format("rank {} ended with exit code {}", rank, WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return fmt::format("rank {} was killed by signal {} ({}){}", rank, number, strsignal(number),
                     number == SIGKILL ? oom_kills_.explain() : "");
}

void Failures::log_late(const std::deque<ChildProcess>& ranks, Timeout grace) const {
  std::vector<int> late;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (!ranks[rank].is_reaped()) late.push_back(static_cast<int>(rank));
  log(LogLevel::warn, "spawn: killing {}: still there {:g} s after rank {} failed", check::list_ranks(late),
      std::chrono::duration<double>(grace).count(), all_.front().rank);
}

void Failures::raise_first() const {
  if (all_.empty()) return;
  const RankFailure& first = all_[root_cause(all_)];
  throw Error(Errc::peer_failed, rank_message(first.rank, first.what));
}

}  // namespace dist
