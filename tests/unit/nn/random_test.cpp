// Initial weights of ranks that share a thread, and of ranks that do not.
#include "dist/nn/random.h"

#include <vector>

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/ranks.h"

namespace dist::nn {
namespace {

// What each of three simulated ranks draws.
std::vector<std::vector<float>> drawn_by_virtual_ranks(bool seeded) {
  std::vector<std::vector<float>> drawn(3);
  const auto report = sim::run({.ranks = 3}, [&](int rank) {
    if (seeded) manual_seed(42);
    init_process_group();
    for (int i = 0; i < 2; ++i) {
      const Tensor t = uniform({4}, 1);
      barrier();
      const auto numbers = t.data<float>();
      drawn[static_cast<std::size_t>(rank)].insert(drawn[static_cast<std::size_t>(rank)].end(),
                                                   numbers.begin(), numbers.end());
    }
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
  return drawn;
}

TEST(Random, VirtualRanksHaveGeneratorsOfTheirOwn) {
  manual_seed(42);
  std::vector<float> alone;
  for (int i = 0; i < 2; ++i) {
    const Tensor t = uniform({4}, 1);
    for (const float number : t.data<float>()) alone.push_back(number);
  }
  for (const auto& numbers : drawn_by_virtual_ranks(true)) EXPECT_EQ(numbers, alone);
}

TEST(Random, WithoutASeedAllBeginAlike) {
  const auto drawn = drawn_by_virtual_ranks(false);
  EXPECT_EQ(drawn[1], drawn[0]);
  EXPECT_EQ(drawn[2], drawn[0]);
  EXPECT_EQ(drawn_by_virtual_ranks(false), drawn) << "in every simulation";
}

}  // namespace
}  // namespace dist::nn
