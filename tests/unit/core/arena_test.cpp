#include "dist/core/memory/arena.h"

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "dist/core/handles.h"
#include "dist/core/limits.h"

#include "support/expect_error.h"
#include "support/mib.h"

namespace dist {
namespace {

using test::mib;

TEST(Arena, BlocksAreAlignedAndCounted) {
  Arena& arena = Arena::local();
  const std::size_t before = arena.in_use();
  std::vector<void*> blocks;
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 100000}) {
    blocks.push_back(arena.allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % 64, 0U);
    std::memset(blocks.back(), 0xab, bytes);
  }
  EXPECT_GE(arena.in_use(), before + 101193);
  EXPECT_GE(arena.peak(), arena.in_use());
  for (void* block : blocks) arena.deallocate(block);
  EXPECT_EQ(arena.in_use(), before);
  arena.deallocate(nullptr);
}

TEST(Arena, AFreedBlockIsUsedAgain) {
  Arena& arena = Arena::local();
  void* first = arena.allocate(4096);
  arena.deallocate(first);
  void* second = arena.allocate(4096);
  EXPECT_EQ(first, second);
  arena.deallocate(second);
}

TEST(Arena, WhatAPeerMapsThroughTheDescriptorIsTheSameMemory) {
  Arena& arena = Arena::local();
  auto* mine = static_cast<char*>(arena.allocate(1000));
  std::strcpy(mine, "over to you");
  const Mapping peer(arena.fd(), arena.capacity());
  const auto offset = arena.offset_of(mine, 1000);
  ASSERT_TRUE(offset.has_value());
  EXPECT_STREQ(reinterpret_cast<char*>(peer.data() + *offset), "over to you");
  peer.data()[*offset] = std::byte{'O'};
  EXPECT_STREQ(mine, "Over to you");
  arena.deallocate(mine);
}

TEST(Arena, ForeignMemoryHasNoOffset) {
  Arena& arena = Arena::local();
  auto* inside = static_cast<std::byte*>(arena.allocate(64));
  const int on_the_stack = 0;
  const std::vector<int> on_the_heap(10);
  EXPECT_FALSE(arena.offset_of(&on_the_stack, 4));
  EXPECT_FALSE(arena.offset_of(on_the_heap.data(), 40));
  EXPECT_FALSE(arena.offset_of(nullptr, 0));
  const std::size_t offset = *arena.offset_of(inside, 64);
  EXPECT_EQ(arena.offset_of(inside + 10, 54), offset + 10);
  EXPECT_TRUE(arena.offset_of(inside, arena.capacity() - offset));
  EXPECT_FALSE(arena.offset_of(inside, arena.capacity() - offset + 1)) << "reaches beyond the segment";
  arena.deallocate(inside);
}

TEST(Arena, TooLargeARequestIsRefusedWithNumbers) {
  Arena& arena = Arena::local();
  const std::size_t before = arena.in_use();
  const std::size_t too_much = physical_memory() + 1;
  EXPECT_DIST_ERROR(arena.allocate(too_much), Errc::resource, std::to_string(too_much));
  EXPECT_DIST_ERROR(arena.allocate(~std::size_t{0}), Errc::resource, std::to_string(physical_memory()));
  EXPECT_EQ(arena.in_use(), before);
}

TEST(Arena, FreeingTwiceIsReportedAndHarmless) {
  Arena& arena = Arena::local();
  void* block = arena.allocate(64);
  arena.deallocate(block);
  int foreign = 0;
  testing::internal::CaptureStderr();
  arena.deallocate(block);
  arena.deallocate(&foreign);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("twice"), std::string::npos) << said;
}

std::size_t resident_bytes(int fd) {
  struct stat info {};
  ::fstat(fd, &info);
  return static_cast<std::size_t>(info.st_blocks) * 512;
}

TEST(Arena, LargeFreedBlocksGoBackToTheSystem) {
  Arena& arena = Arena::local();
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(static_cast<char*>(arena.allocate(100 * mib)));
    for (std::size_t at = 0; at < 100 * mib; at += mib) blocks.back()[at] = 1;
  }
  const std::size_t held = resident_bytes(arena.fd());
  EXPECT_GE(held, 800U * 4096);
  for (char* block : blocks) arena.deallocate(block);
  EXPECT_LE(resident_bytes(arena.fd()), held - 400U * 4096) << "beyond 256 MiB nothing is cached";
  auto* again = static_cast<char*>(arena.allocate(800 * mib));
  for (std::size_t at = 0; at < 800 * mib; at += 10 * mib)
    again[at] = 2;  // pages that were given back are there again
  arena.deallocate(again);
}

TEST(Arena, ManyThreadsNeverGetTheSameMemory) {
  std::vector<std::thread> threads;
  for (int id = 1; id <= 4; ++id)
    threads.emplace_back([id] {
      std::mt19937 random(static_cast<unsigned>(id));
      std::vector<std::pair<unsigned char*, std::size_t>> live;
      const auto check_and_free = [&] {
        const auto [block, bytes] = live.back();
        live.pop_back();
        for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(block[i], id);
        Arena::local().deallocate(block);
      };
      for (int step = 0; step < 2000; ++step) {
        if (live.size() < 20 && random() % 3 != 0) {
          const std::size_t bytes = random() % 2000;
          live.emplace_back(static_cast<unsigned char*>(Arena::local().allocate(bytes)), bytes);
          std::memset(live.back().first, id, bytes);
        } else if (!live.empty()) {
          std::swap(live[random() % live.size()], live.back());
          check_and_free();
        }
      }
      while (!live.empty()) check_and_free();
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace dist
