#include "dist/data/interleave.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace dist::data {
namespace {

// Yields first, first + step, ... below end; a slow one pauses before each.
Generator<int> count(int first, int step, int end, std::chrono::microseconds pause = {}) {
  return [=, next = first]() mutable -> std::optional<int> {
    if (pause.count() > 0) sleep(pause);
    if (next >= end) return std::nullopt;
    return std::exchange(next, next + step);
  };
}

std::vector<int> read(const Generator<int>& all) {
  std::vector<int> items;
  while (const auto item = all()) items.push_back(*item);
  return items;
}

TEST(Interleave, ReadsInTurnWhoeverIsFaster) {
  for (const int parts : {1, 2, 3, 8}) {
    for (const std::size_t ahead : {1, 2, 100}) {
      std::vector<Generator<int>> generators;
      for (int i = 0; i < parts; ++i)
        generators.push_back(count(i, parts, 40, std::chrono::microseconds((parts - i) * 50)));
      std::vector<int> wanted(40);
      for (int i = 0; i < 40; ++i) wanted[static_cast<std::size_t>(i)] = i;
      EXPECT_EQ(read(interleave(std::move(generators), ahead)), wanted)
          << parts << " parts, " << ahead << " ahead";
    }
  }
}

TEST(Interleave, GoesOnWithTheOthersWhenOneHasEnded) {
  EXPECT_EQ(read(interleave<int>({count(0, 1, 2), count(10, 1, 10), count(20, 1, 24)}, 1)),
            (std::vector{0, 20, 1, 21, 22, 23}));
}

TEST(Interleave, OfNothingIsNothing) { EXPECT_EQ(read(interleave<int>({}, 1)), std::vector<int>{}); }

TEST(Interleave, WhatAGeneratorThrowsComesOutInItsTurnAndEndsAll) {
  auto broken = [n = 0]() mutable -> std::optional<int> {
    if (n == 2) throw std::out_of_range("the third");
    return 100 + n++;
  };
  const auto all = interleave<int>({count(0, 1, 1000), broken}, 4);
  for (const int wanted : {0, 100, 1, 101, 2}) EXPECT_EQ(all(), wanted);
  EXPECT_THROW(all(), std::out_of_range);
  EXPECT_EQ(all(), std::nullopt);
}

TEST(Interleave, WorksAheadAsFarAsItIsAllowedTo) {
  const auto made = std::make_shared<std::atomic<int>>(0);
  const auto all = interleave<int>({[made]() -> std::optional<int> { return ++*made; }}, 3);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (*made < 3 && std::chrono::steady_clock::now() < until) sleep(std::chrono::milliseconds(1));
  sleep(std::chrono::milliseconds(20));
  EXPECT_EQ(*made, 3);
  EXPECT_EQ(all(), 1);
}

TEST(Interleave, CanBeLeftBeforeItsEnd) {
  const auto held = std::make_shared<int>(0);
  {
    const auto all = interleave<int>({[held]() -> std::optional<int> { return ++*held; }}, 2);
    EXPECT_EQ(all(), 1);
  }
  EXPECT_EQ(held.use_count(), 1) << "the thread and its generator are gone";
}

}  // namespace
}  // namespace dist::data
