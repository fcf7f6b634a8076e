// PyTorch's rule for buckets: compared with PyTorch's results, and checked by its properties.
#include "dist/parallel/bucket_assignment.h"

#include <fstream>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dist::test {
namespace {

using Buckets = std::vector<std::vector<std::size_t>>;

GradientSize f32(std::size_t numel) { return {4 * numel, DType::f32, cpu}; }

TEST(AssignBuckets, GivesPyTorchsBuckets) {
  std::ifstream file(GOLDEN "/ddp_buckets.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 6U);
  for (const auto& golden : cases) {
    std::vector<GradientSize> gradients;
    for (const std::size_t numel : golden.at("numel")) gradients.push_back(f32(numel));
    EXPECT_EQ(assign_buckets(gradients, golden.at("limits_bytes").get<std::vector<std::size_t>>()),
              golden.at("buckets").get<Buckets>())
        << golden.dump();
  }
}

TEST(AssignBuckets, WithoutLimitsOneBucketHoldsAll) {
  EXPECT_EQ(assign_buckets(std::vector{f32(1), f32(1 << 30), f32(2)}, {}), (Buckets{{0, 1, 2}}));
  EXPECT_EQ(assign_buckets({}, {}), Buckets{});
}

TEST(AssignBuckets, KindsHaveBucketsAndLimitsOfTheirOwn) {
  const std::vector<GradientSize> gradients{
      {100, DType::f32, cpu}, {100, DType::f16, cpu}, {100, DType::f32, cuda(0)},
      {100, DType::f32, cpu}, {100, DType::f16, cpu}, {100, DType::f32, cpu},
  };
  EXPECT_EQ(assign_buckets(gradients, std::vector<std::size_t>{200, 100}),
            (Buckets{{0, 3}, {1, 4}, {2}, {5}}));
}

TEST(AssignBuckets, EveryGradientIsInOneBucketAndOnlyTheLastIsBelowItsLimit) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<GradientSize> gradients;
    for (std::size_t i = random() % 50; i > 0; --i) gradients.push_back(f32(random() % 1000));
    const std::vector<std::size_t> limits{random() % 4000 + 1, random() % 8000 + 1};
    const auto buckets = assign_buckets(gradients, limits);
    std::size_t next = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      std::size_t bytes = 0, before_last = 0;
      for (const std::size_t i : buckets[b]) {
        EXPECT_EQ(i, next++);
        before_last = bytes;
        bytes += gradients[i].bytes;
      }
      const std::size_t limit = limits[std::min<std::size_t>(b, 1)];
      EXPECT_LT(before_last, limit);
      EXPECT_TRUE(bytes >= limit || b + 1 == buckets.size());
    }
    EXPECT_EQ(next, gradients.size());
  }
}

}  // namespace
}  // namespace dist::test
