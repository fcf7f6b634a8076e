#include "dist/launch/spawn_threads.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/memory/arena.h"
#include "dist/group/join/rendezvous.h"
#include "dist/group/rank_context.h"
#include "dist/launch/root_cause.h"
#include "dist/store/memory_store.h"

namespace dist {
namespace {

// The threads of the spawned ranks, joined whatever happens.
class Team {
 public:
  Team(int n, const RankFunction& fn) : n_(n), fn_(fn), store_(make_memory_store()) {}
  ~Team() { join(); }

  void start() {
    for (int rank = 0; rank < n_; ++rank) {
      try {
        threads_.emplace_back([this, rank] { run(rank); });
      } catch (const std::system_error& error) {
        cancel_rendezvous(store_, 0, fmt::format("rank {} could not be started", rank));
        join();
        fail(Errc::resource, "spawn: the thread of rank {} of {} could not be started: {}{}", rank, n_,
             error.what(), limit_behind(EAGAIN));
      }
    }
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const std::vector<RankFailure>& failures() const { return failures_; }

 private:
  void run(int rank) {
    RankContext context;
    context.launch = spawned_rank(rank, n_);
    context.store = store_;
    const RankContextGuard guard(context);
    const auto result = run_rank(rank, fn_, [&](const RankResult& r) { note(rank, r); });
    if (!result.threw) note_end(store_, 0, rank, n_);
  }

  void note(int rank, const RankResult& result) {
    {
      const std::lock_guard lock(mutex_);
      failures_.push_back(
          {rank, std::chrono::steady_clock::now(), result.text, result.text, result.blames_others()});
    }
    cancel_rendezvous(store_, 0, rank_message(rank, result.text));
  }

  const int n_;
  const RankFunction& fn_;
  std::shared_ptr<Store> store_;
  std::mutex mutex_;
  std::vector<RankFailure> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace

void spawn_threads(int n, const RankFunction& fn) {
  Arena::expect_ranks(1);  // threads share the arena
  Team team(n, fn);
  team.start();
  team.join();
  if (team.failures().empty()) return;
  const RankFailure& first = team.failures()[root_cause(team.failures())];
  throw Error(Errc::peer_failed, rank_message(first.rank, first.what));
}

}  // namespace dist
