#include "support/forked_ranks.h"

#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "dist/simulate/remote/channel.h"
#include "dist/simulate/remote/rank.h"

namespace dist::test {

sim::Report simulate_processes(const sim::RunOptions& options, const RankProcess& process,
                               const sim::ProcessOptions& limits, const std::function<void()>& once_forked) {
  std::vector<UniqueFd> ours, theirs;
  for (int rank = 0; rank < options.ranks; ++rank) {
    auto [mine, its] = sim::channel_pair();
    ours.push_back(std::move(mine));
    theirs.push_back(std::move(its));
  }
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int rank = 0; rank < options.ranks; ++rank) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    ours.clear();
    UniqueFd mine = std::move(theirs[static_cast<std::size_t>(rank)]);
    theirs.clear();
    try {
      process(rank, std::move(mine));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d's process: %s\n", rank, error.what());
    }
    _exit(0);
  }
  theirs.clear();
  if (once_forked) once_forked();
  sim::Report report = sim::run_processes(options, std::move(ours), limits);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  return report;
}

sim::Report simulate_forked(const sim::RunOptions& options, const std::function<void(int rank)>& rank_main) {
  return simulate_processes(options,
                            [&](int, UniqueFd socket) { sim::run_as_rank(std::move(socket), rank_main); });
}

}  // namespace dist::test
