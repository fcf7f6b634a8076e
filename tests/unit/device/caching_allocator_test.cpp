// Freed device memory is used again as early as it may be, and never earlier.
#include "dist/core/device/caching_allocator.h"

#include <functional>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/tensor.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/mib.h"

namespace dist::test {
namespace {

class CachingAllocatorTest : public testing::Test {
 protected:
  CachingAllocatorTest()
      : cache(*fake.operator->(), gpu,
              {.take =
                   [this](std::size_t bytes) {
                     ++taken;
                     return fake->allocate(gpu, bytes);
                   },
               .give_back =
                   [this](void* base) {
                     ++given_back;
                     meanwhile();
                     fake->deallocate(gpu, base);
                     for (const StreamHandle stream : {StreamHandle{}, a.handle(), b.handle()})
                       fake->synchronize(gpu, stream);
                     (void)fake->in_use(gpu);  // now it is free
                   }}) {}

  void free_after(void* pointer, std::vector<StreamHandle> streams) { cache.deallocate(pointer, streams); }

  int taken = 0, given_back = 0;
  std::function<void()> meanwhile = [] {};  // while a piece is given back
  const Device gpu = cuda(0);
  FakeDeviceGuard fake{FakeDeviceOptions{.bytes = 96 * mib}};
  const Stream a{gpu}, b{gpu};
  CachingAllocator cache;
};

TEST_F(CachingAllocatorTest, SmallTensorsShareAPieceAndLargeOnesHaveTheirOwn) {
  auto* const first = static_cast<std::byte*>(cache.allocate(1000, a.handle()));
  auto* const second = static_cast<std::byte*>(cache.allocate(0, a.handle()));
  EXPECT_EQ(taken, 1);
  EXPECT_NE(first, second);
  const Allocation piece = cache.allocation_of(first + 999);
  EXPECT_EQ(piece.base, cache.allocation_of(second).base);
  EXPECT_EQ(piece.bytes, CachingAllocator::piece_bytes);
  auto* const large = static_cast<std::byte*>(cache.allocate(CachingAllocator::own_piece + 1, a.handle()));
  EXPECT_EQ(taken, 2);
  EXPECT_NE(cache.allocation_of(large).id, piece.id);
  EXPECT_EQ(cache.allocation_of(large).bytes, 18 * mib) << "whole units of the driver";
  EXPECT_GE(cache.in_use(), CachingAllocator::own_piece + 1001);
  EXPECT_EQ(cache.reserved(), 50 * mib);
  EXPECT_DIST_ERROR((void)cache.allocation_of(&taken), Errc::invalid_argument,
                    "is not in the memory of any tensor on cuda:0");
}

TEST_F(CachingAllocatorTest, TheSameStreamGetsItsBlockBackAtOnce) {
  void* const block = cache.allocate(1000, a.handle());
  fake->hold_all(true);  // the work that uses it is not done
  free_after(block, {a.handle()});
  EXPECT_EQ(cache.allocate(900, a.handle()), block);
  EXPECT_EQ(fake->backlog(), 1U);
  fake->hold_all(false);
}

TEST_F(CachingAllocatorTest, AnotherStreamWaitsForTheWorkThatUsedIt) {
  void* const block = cache.allocate(1000, a.handle());
  fake->hold_all(true);
  free_after(block, {a.handle(), b.handle()});
  void* const other = cache.allocate(1000, a.handle());
  EXPECT_NE(other, block) << "stream b may still use it";
  fake->hold_all(false);
  a.synchronize();
  b.synchronize();
  EXPECT_EQ(cache.allocate(1000, b.handle()), block);
}

TEST_F(CachingAllocatorTest, ABlockIsNotWastedOnAMuchSmallerTensor) {
  void* const block = cache.allocate(100'000, a.handle());
  fake->hold_all(true);
  free_after(block, {a.handle()});
  EXPECT_NE(cache.allocate(1000, a.handle()), block);
  EXPECT_EQ(cache.allocate(60'000, a.handle()), block);
  fake->hold_all(false);
}

TEST_F(CachingAllocatorTest, AFullDeviceWaitsForWhatIsBeingFreed) {
  void* const block = cache.allocate(90 * mib, a.handle());
  fake->hold_all(true);
  free_after(block, {b.handle()});
  std::thread releases([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fake->hold_all(false);
  });
  EXPECT_EQ(cache.allocate(90 * mib, a.handle()), block);
  releases.join();
  EXPECT_EQ(taken, 2) << "once in vain";
}

TEST_F(CachingAllocatorTest, AFullDeviceGetsPiecesBackAndSaysWhatIsMissing) {
  free_after(cache.allocate(1000, a.handle()), {a.handle()});
  void* const large = cache.allocate(80 * mib, a.handle());  // does not fit beside the piece for small ones
  EXPECT_EQ(given_back, 1);
  EXPECT_DIST_ERROR(cache.allocate(1000, a.handle()), Errc::resource, "no room");
  free_after(large, {a.handle()});
  EXPECT_NE(cache.allocate(1000, b.handle()), nullptr);
}

// Other threads still get memory; without it, the work that this thread waits for might never end.
TEST_F(CachingAllocatorTest, WhoeverWaitsForMemoryKeepsNobodyElseWaiting) {
  (void)cache.allocate(1000, a.handle());
  void* const large = cache.allocate(60 * mib, a.handle());
  fake->hold_all(true);
  free_after(large, {b.handle()});
  std::thread waits([&] { EXPECT_EQ(cache.allocate(60 * mib, a.handle()), large); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(cache.allocate(1000, b.handle()), nullptr);
  fake->hold_all(false);
  waits.join();
}

// Giving memory back takes long, and waits for all work of the device.
TEST_F(CachingAllocatorTest, WhoeverGivesMemoryBackKeepsNobodyElseWaiting) {
  (void)cache.allocate(1000, a.handle());
  free_after(cache.allocate(20 * mib, a.handle()), {a.handle()});
  std::future<void*> other;
  meanwhile = [&] {
    if (other.valid()) return;
    other = std::async(std::launch::async, [&] { return cache.allocate(1000, b.handle()); });
    EXPECT_EQ(other.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  };
  EXPECT_NE(cache.allocate(60 * mib, a.handle()), nullptr);
  EXPECT_EQ(given_back, 1);
  EXPECT_NE(other.get(), nullptr);
  meanwhile = [] {};  // the cache gives back more when it ends
}

TEST_F(CachingAllocatorTest, APieceThatOthersMayMapIsOnlyUsedAgain) {
  void* const block = cache.allocate(1000, a.handle());
  cache.keep(block);
  free_after(block, {});
  EXPECT_DIST_ERROR(cache.allocate(80 * mib, a.handle()), Errc::resource, "no room");
  EXPECT_EQ(given_back, 0);
  EXPECT_EQ(cache.allocate(1000, b.handle()), block);
}

TEST_F(CachingAllocatorTest, AFullDeviceUsesAPieceThatOthersMayMapForWhatFits) {
  std::vector<void*> large;
  for (const std::size_t size : {50 * mib, 40 * mib}) {
    large.push_back(cache.allocate(size, a.handle()));
    cache.keep(large.back());
  }
  for (void* const each : large) free_after(each, {});
  EXPECT_EQ(cache.allocate(38 * mib, a.handle()), large[0]);
  EXPECT_EQ(cache.allocation_of(cache.allocate(1000, a.handle())).base, large[0]) << "there is room left";
  EXPECT_EQ(cache.allocate(20 * mib, a.handle()), large[1]);
  EXPECT_DIST_ERROR(cache.allocate(30 * mib, a.handle()), Errc::resource, "no room");
  EXPECT_EQ(given_back, 0);
}

TEST_F(CachingAllocatorTest, ABlockWhoseUseCannotBeMarkedStaysInUse) {
  void* const block = cache.allocate(1000, a.handle());
  const std::size_t before = cache.in_use();
  free_after(block, {&taken});  // no stream
  EXPECT_EQ(cache.in_use(), before);
  EXPECT_NE(cache.allocate(1000, a.handle()), block);
}

TEST_F(CachingAllocatorTest, FreeingTwiceIsNotedAndHarmless) {
  void* const block = cache.allocate(1000, a.handle());
  free_after(block, {a.handle()});
  a.synchronize();
  void* const again = cache.allocate(1000, a.handle());
  EXPECT_EQ(again, block);
  free_after(static_cast<std::byte*>(again) + 64, {a.handle()});  // no block begins there
  EXPECT_GE(cache.in_use(), 1000U);
}

TEST_F(CachingAllocatorTest, EventsAreUsedAgain) {
  for (int i = 0; i < 100; ++i) {
    free_after(cache.allocate(1000, a.handle()), {a.handle(), b.handle()});
    a.synchronize();
    b.synchronize();
  }
  EXPECT_LE(fake->handles_alive(), 4U) << "two streams, two events";
}

// A stream that has not reached one mark has not reached a later one.
TEST_F(CachingAllocatorTest, AStreamIsAskedOnceHoweverMuchWaitsForIt) {
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(cache.allocate(1000, a.handle()));
  fake->hold_all(true);
  for (void* const block : blocks) free_after(block, {a.handle(), b.handle()});
  const std::size_t before = fake->questions();
  (void)cache.allocate(100'000, a.handle());
  EXPECT_EQ(fake->questions() - before, 2U) << "two streams";
  fake->hold_all(false);
  a.synchronize();
  b.synchronize();
  EXPECT_EQ(cache.allocate(1000, a.handle()), blocks[0]) << "all are free again";
}

// Tensors on it, made by several threads with a stream each: every element has the right value.
TEST(CachedDevice, TensorsOfManyThreadsDoNotMeet) {
  const FakeDeviceGuard fake(
      FakeDeviceOptions{.longest_rest = std::chrono::microseconds(50), .caches = true});
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([id] {
      const Stream stream(cuda(0));
      const StreamGuard guard(cuda(0), stream.handle());
      Tensor t = full({500}, id, DType::f32, cuda(0));
      for (int i = 0; i < 30; ++i) t = t + ones({500}, DType::f32, cuda(0));
      EXPECT_EQ(sum(t), 500 * (id + 30));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(fake->in_use(cuda(0)), CachingAllocator::piece_bytes) << "one piece serves all";
}

}  // namespace
}  // namespace dist::test
