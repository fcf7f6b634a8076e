// What fork() does to tensors: the child sees copies, and has an arena of its own.
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "dist/core/memory/arena.h"
#include "dist/core/sanitizer.h"
#include "dist/core/tensor.h"

#include "unit/core/in_child.h"

namespace dist {
namespace {

using namespace std::chrono_literals;

bool holds(const Tensor& t, float value) {
  for (const float element : t.data<float>())
    if (element != value) return false;
  return true;
}

TEST(ArenaFork, TheChildReadsAndWritesACopy) {
  Tensor t = full({100000}, 1);
  EXPECT_EQ(in_child([&] {
              const bool same = holds(t, 1);
              t.fill_(2);
              return same && holds(t, 2);
            }),
            0);
  EXPECT_TRUE(holds(t, 1));
}

TEST(ArenaFork, TheChildsCopyIsOfTheMomentOfTheFork) {
  Tensor t = full({300000}, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    std::this_thread::sleep_for(100ms);  // the parent overwrites and frees meanwhile
    ::_exit(holds(t, 1) ? 0 : 1);
  }
  t.fill_(3);
  t = Tensor();
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ArenaFork, OldTensorsCannotBeMappedByPeersNewOnesCan) {
  const Tensor old = full({10}, 1);
  ASSERT_TRUE(Arena::local().offset_of(old.raw(), old.nbytes()));
  EXPECT_EQ(in_child([&] {
              const bool before = Arena::local().offset_of(old.raw(), old.nbytes()).has_value();
              const Tensor fresh = full({10}, 2);
              return !before && Arena::local().offset_of(fresh.raw(), fresh.nbytes()).has_value() &&
                     !Arena::local().offset_of(old.raw(), old.nbytes()) && Arena::local().in_use() == 64;
            }),
            0);
}

TEST(ArenaFork, NewTensorsOfTheChildAreNotTheParents) {
  Tensor mine = full({1000}, 5);
  EXPECT_EQ(in_child([&] {
              for (int i = 0; i < 50; ++i) full({1000}, 6);
              return holds(full({1000}, 7), 7) && holds(mine, 5);
            }),
            0);
  EXPECT_TRUE(holds(mine, 5));
  EXPECT_TRUE(holds(full({1000}, 8), 8));
}

TEST(ArenaFork, FreeingOldTensorsInTheChildHarmsNobody) {
  Tensor small = full({10}, 1), large = full({1 << 20}, 2), kept = full({10}, 3);
  EXPECT_EQ(in_child([&] {
              small = Tensor();
              large = Tensor();
              const Tensor fresh = full({1 << 20}, 4);
              return holds(kept, 3) && holds(fresh, 4);
            }),
            0);
  EXPECT_TRUE(holds(small, 1) && holds(large, 2) && holds(kept, 3));
}

TEST(ArenaFork, WorksThroughGenerations) {
  Tensor t = full({1000}, 1);
  EXPECT_EQ(in_child([&] {
              Tensor u = full({1000}, 2);
              return in_child([&] { return holds(t, 1) && holds(u, 2) && holds(full({9}, 3), 3); }) == 0 &&
                     holds(u, 2);
            }),
            0);
}

std::size_t resident_bytes() {
  std::size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(ArenaFork, UntouchedMemoryCostsTheChildNothing) {
  constexpr std::int64_t count = std::int64_t{3} << 28;  // 3 GiB of address space, one page touched
  const Tensor sparse = empty({count});
  static_cast<float*>(sparse.raw())[count - 1] = 4;
  EXPECT_EQ(in_child([&] {
              return sparse.data<float>()[count - 1] == 4 && resident_bytes() < sparse.nbytes() / 3;
            }),
            0);
}

// Threads do not survive a fork, but a lock that one of them held must not stay locked in the child.
TEST(ArenaFork, OtherThreadsMayAllocateAtThatMoment) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support fork() with running threads";
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) full({100}, 1);
  });
  for (int i = 0; i < 30; ++i) EXPECT_EQ(in_child([] { return holds(full({100}, 2), 2); }), 0);
  done = true;
  busy.join();
}

}  // namespace
}  // namespace dist
