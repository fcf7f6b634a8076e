#include "dist/core/biased_lock.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/spin_lock.h"

namespace dist {
namespace {

using namespace std::chrono_literals;

template <class Mutex>
class BiasedLockOf : public testing::Test {};
using Mutexes = testing::Types<SpinLock, std::mutex>;
class Names {
 public:
  template <class Mutex>
  static std::string GetName(int) {
    return std::is_same_v<Mutex, SpinLock> ? "SpinLock" : "mutex";
  }
};
TYPED_TEST_SUITE(BiasedLockOf, Mutexes, Names);

TYPED_TEST(BiasedLockOf, KeepsTheOthersOutOfItsOwner) {
  BiasedLock<TypeParam> lock;
  lock.lock();  // from now on it belongs to its owner
  lock.unlock();
  for (int visit = 0; visit < 20; ++visit) {  // before and after it has become an ordinary lock
    const std::lock_guard held(lock);
    bool got = true;
    std::jthread([&] { got = lock.try_lock(); }).join();
    EXPECT_FALSE(got) << visit;
  }
}

TYPED_TEST(BiasedLockOf, KeepsItsOwnerOutOfTheOthers) {
  BiasedLock<TypeParam> lock;
  lock.lock();
  lock.unlock();
  for (int visit = 0; visit < 20; ++visit) {
    std::atomic<int> step{0};
    std::jthread other([&] {
      const std::lock_guard held(lock);
      step = 1;
      while (step != 2) std::this_thread::yield();
    });
    while (step != 1) std::this_thread::yield();
    EXPECT_FALSE(lock.try_lock()) << visit;
    step = 2;
    other.join();
    EXPECT_TRUE(lock.try_lock()) << visit;
    lock.unlock();
  }
}

// Each of the first visits meets an owner that enters and leaves all the time, perhaps in the very step that
// is fenced, when its last store is still on its way to the visitor's core.
TYPED_TEST(BiasedLockOf, CountsRight) {
  constexpr int visits = 40;
  struct World {
    BiasedLock<TypeParam> lock;
    std::int64_t count = 0;  // of the lock
    alignas(64) std::atomic<std::int64_t> watched{0};
    std::atomic<bool> is_over{false};
  };
  std::vector<World> worlds(2000);
  std::atomic<std::size_t> at{0};
  std::jthread visitor([&] {
    for (std::size_t i = 0; i < worlds.size(); ++i) {
      while (at < i + 1) std::this_thread::yield();
      World& world = worlds[i];
      for (int k = 0; k < visits; ++k) {
        const std::lock_guard held(world.lock);
        world.count += world.watched >= 0 ? 1 : 0;
      }
      world.is_over = true;
    }
  });
  for (World& world : worlds) {
    world.lock.lock();
    world.lock.unlock();
    ++at;
    std::int64_t own = 0;
    while (!world.is_over) {
      world.watched.store(++own, std::memory_order_relaxed);
      const std::lock_guard held(world.lock);
      ++world.count;
    }
    EXPECT_EQ(world.count, own + visits);
  }
}

TEST(BiasedLock, MayBeWaitedOn) {
  BiasedLock<std::mutex> lock;
  std::condition_variable_any changed;
  bool said = false;
  std::unique_lock held(lock);
  std::jthread other([&] {
    const std::lock_guard mine(lock);
    said = true;
    changed.notify_all();
  });
  EXPECT_TRUE(changed.wait_for(held, 10s, [&] { return said; }));
}

TEST(ThreadNumber, IsEachThreadsOwn) {
  const std::uint64_t mine = thread_number();
  std::uint64_t another = 0;
  std::jthread([&] { another = thread_number(); }).join();
  EXPECT_NE(mine, 0u);
  EXPECT_NE(another, 0u);
  EXPECT_NE(mine, another);
  EXPECT_EQ(mine, thread_number());
}

}  // namespace
}  // namespace dist
