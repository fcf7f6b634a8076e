#include "dist/trace/contributors.h"

#include <array>

#include <gtest/gtest.h>

namespace dist::trace {
namespace {

class ContributorsTest : public testing::Test {
 protected:
  std::array<std::byte, 64> memory{};
  Contributors contributors{0b1};
};

TEST_F(ContributorsTest, WhatWasNeverSetIsTheRanksOwn) {
  EXPECT_EQ(contributors.of(memory.data(), 64), 0b1u);
}

TEST_F(ContributorsTest, ASetRangeIsKnownAndItsNeighboursAreNot) {
  contributors.set(&memory[16], 16, 0b110);
  EXPECT_EQ(contributors.of(&memory[16], 16), 0b110u);
  EXPECT_EQ(contributors.of(&memory[20], 4), 0b110u);
  EXPECT_EQ(contributors.of(&memory[8], 16), 0b111u);
  EXPECT_EQ(contributors.of(&memory[0], 16), 0b1u);
  EXPECT_EQ(contributors.of(&memory[32], 16), 0b1u);
}

TEST_F(ContributorsTest, SettingTheMiddleLeavesBothEnds) {
  contributors.set(&memory[0], 64, 0b10);
  contributors.set(&memory[16], 16, 0b100);
  EXPECT_EQ(contributors.of(&memory[0], 16), 0b10u);
  EXPECT_EQ(contributors.of(&memory[16], 16), 0b100u);
  EXPECT_EQ(contributors.of(&memory[32], 32), 0b10u);
  EXPECT_EQ(contributors.of(&memory[0], 64), 0b110u);
}

TEST_F(ContributorsTest, SumsJoinAndCopiesReplace) {
  contributors.set(&memory[0], 8, 0b010);
  contributors.set(&memory[8], 8, 0b100);
  contributors.add(&memory[0], &memory[8], 8);
  EXPECT_EQ(contributors.of(&memory[0], 8), 0b110u);
  contributors.copy(&memory[0], &memory[8], 8);
  EXPECT_EQ(contributors.of(&memory[0], 8), 0b100u);
}

TEST_F(ContributorsTest, ForgettingSpansSeveralParts) {
  for (std::size_t i = 0; i < 64; i += 8) contributors.set(&memory[i], 8, 0b10);
  contributors.forget(&memory[4], 40);
  EXPECT_EQ(contributors.of(&memory[0], 4), 0b10u);
  EXPECT_EQ(contributors.of(&memory[4], 40), 0b1u);
  EXPECT_EQ(contributors.of(&memory[44], 20), 0b10u);
}

TEST_F(ContributorsTest, NothingIsNobodysButTheRanksOwn) {
  contributors.set(&memory[0], 0, 0b10);
  EXPECT_EQ(contributors.of(&memory[0], 0), 0b1u);
}

}  // namespace
}  // namespace dist::trace
