#include "dist/core/memory/block_map.h"

#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace dist {
namespace {

using Block = BlockMap::Block;

TEST(BlockMap, RoundsUpToTheAlignmentAndNeverGivesNothing) {
  BlockMap map(1024);
  EXPECT_EQ(map.allocate(0)->size, 64U);
  EXPECT_EQ(map.allocate(1)->offset, 64U);
  EXPECT_EQ(map.allocate(65)->size, 128U);
  EXPECT_EQ(map.in_use(), 256U);
}

TEST(BlockMap, RefusesWhatDoesNotFitAndStaysWhole) {
  BlockMap map(1024);
  EXPECT_FALSE(map.allocate(1025));
  EXPECT_FALSE(map.allocate(std::numeric_limits<std::size_t>::max()));
  EXPECT_FALSE(map.deallocate(0));
  EXPECT_TRUE(map.allocate(1024));
  EXPECT_FALSE(map.allocate(1));
  EXPECT_FALSE(map.deallocate(64)) << "not the start of a block";
}

TEST(BlockMap, TakesTheSmallestHoleThatFits) {
  BlockMap map(4096);
  const Block large = *map.allocate(512);
  map.allocate(64);
  const Block small = *map.allocate(128);
  map.allocate(64);
  map.deallocate(large.offset);
  map.deallocate(small.offset);
  EXPECT_EQ(map.allocate(128)->offset, small.offset);
  EXPECT_EQ(map.allocate(128)->offset, large.offset);
}

// In whatever order three neighbours are freed, the result is one hole.
TEST(BlockMap, NeighboursCoalesceInEveryOrder) {
  std::vector<int> order{0, 1, 2};
  do {
    BlockMap map(3 * 64);
    for (int i = 0; i < 3; ++i) map.allocate(64);
    for (const int i : order) EXPECT_TRUE(map.deallocate(static_cast<std::size_t>(i) * 64));
    EXPECT_EQ(map.largest_hole(), 3U * 64);
    EXPECT_TRUE(map.allocate(3 * 64));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(BlockMap, CountsTheFreedMemoryThatMayHoldPages) {
  BlockMap map(1 << 20);
  const Block a = *map.allocate(4096), b = *map.allocate(4096);
  EXPECT_EQ(map.cached(), 0U) << "memory never handed out holds no pages";
  map.deallocate(a.offset);
  EXPECT_EQ(map.cached(), 4096U);
  map.deallocate(b.offset);
  EXPECT_EQ(map.cached(), 8192U);
  map.discard(b);
  EXPECT_EQ(map.cached(), 4096U);
  map.allocate(8192);
  EXPECT_EQ(map.cached(), 0U);
}

// Random allocations and frees: blocks never overlap, and at the end everything is one hole again.
TEST(BlockMap, BlocksNeverOverlapUnderRandomUse) {
  constexpr std::size_t capacity = 1 << 16;
  std::mt19937 random(7);
  BlockMap map(capacity);
  std::vector<Block> live;
  std::vector<int> owner(capacity / 64, -1);
  const auto mark = [&](const Block& block, int from, int to) {
    for (std::size_t at = block.offset / 64; at < (block.offset + block.size) / 64; ++at) {
      ASSERT_EQ(owner.at(at), from);
      owner[at] = to;
    }
  };
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      if (const auto block = map.allocate(random() % 3000)) {
        mark(*block, -1, 1);
        live.push_back(*block);
      }
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(map.deallocate(live.back().offset));
      mark(live.back(), 1, -1);
      live.pop_back();
    }
    ASSERT_LE(map.in_use() + map.cached(), capacity);
  }
  for (const Block& block : live) map.deallocate(block.offset);
  EXPECT_EQ(map.in_use(), 0U);
  EXPECT_EQ(map.largest_hole(), capacity);
}

}  // namespace
}  // namespace dist
