// Ranks as threads of the test program: the fastest way to run something on n ranks, and the one that
// sanitizers see whole. Each thread has a RankContext of its own over one memory store.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dist/core/rank_label.h"
#include "dist/group/process_group.h"
#include "dist/group/rank_context.h"
#include "dist/store/memory_store.h"

namespace dist::test {

// What each rank's init_process_group gets; rank, world_size and store are filled in.
struct ThreadRanks {
  InitOptions init;
  ThreadRanks() { init.timeout = std::chrono::seconds(20); }  // a hang is a failure soon
};

// Runs fn(rank, store) on n threads, each with a RankContext, and waits for all of them. No group is made.
// When ranks throw, the first error in time (usually the cause; the others follow from it) is rethrown here.
inline void run_threads(int n, const std::function<void(int, const std::shared_ptr<Store>&)>& fn) {
  const std::shared_ptr<Store> store = make_memory_store();
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      RankContext context;
      RankContextGuard guard(context);
      try {
        fn(rank, store);
      } catch (const std::exception& error) {
        {
          std::lock_guard lock(mutex);
          if (!first) first = std::current_exception();
        }
        leave_job(context, error.what());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

// Runs fn(rank) on n threads between init_process_group and destroy_process_group.
inline void run_ranks(int n, const std::function<void(int)>& fn, const ThreadRanks& options = {}) {
  run_threads(n, [&](int rank, const std::shared_ptr<Store>& store) {
    InitOptions init = options.init;
    init.rank = rank;
    init.world_size = n;
    init.store = store;
    init_process_group(init);
    fn(rank);
    if (is_initialized()) destroy_process_group();
  });
}

}  // namespace dist::test
