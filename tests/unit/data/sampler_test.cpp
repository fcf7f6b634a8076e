#include "dist/data/sampler.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/data/randperm.h"

#include "support/expect_error.h"

namespace dist::data {
namespace {

using Indices = std::vector<std::int64_t>;

TEST(DistributedSampler, GivesTheIndicesThatPyTorchGives) {
  const auto cases = nlohmann::json::parse(std::ifstream(GOLDEN "/distributed_sampler.json"));
  ASSERT_GE(cases.size(), 10U);
  for (const auto& one : cases) {
    DistributedSamplerOptions options{.num_replicas = one["num_replicas"],
                                      .rank = 0,
                                      .shuffle = one["shuffle"],
                                      .seed = one["seed"],
                                      .drop_last = one["drop_last"]};
    for (options.rank = 0; options.rank < options.num_replicas; ++options.rank) {
      DistributedSampler sampler(one["dataset_size"], options);
      sampler.set_epoch(one["epoch"]);
      const Indices wanted = one["indices"][static_cast<std::size_t>(options.rank)];
      auto described = one;
      described.erase("indices");
      EXPECT_EQ(sampler.indices(), wanted) << described << ", rank " << options.rank;
      EXPECT_EQ(sampler.size(), static_cast<std::int64_t>(wanted.size()));
    }
  }
}

// How often each sample was visited, on all ranks together.
std::map<std::int64_t, int> visits(std::int64_t n, DistributedSamplerOptions options, std::int64_t epoch) {
  std::map<std::int64_t, int> count;
  for (options.rank = 0; options.rank < options.num_replicas; ++options.rank) {
    DistributedSampler sampler(n, options);
    sampler.set_epoch(epoch);
    for (const auto index : sampler.indices()) ++count[index];
  }
  return count;
}

TEST(DistributedSampler, VisitsEverySampleAndFewTwiceForAnyNumberOfSamplesAndRanks) {
  for (const std::int64_t n : {1, 2, 3, 7, 8, 60, 97, 1000}) {
    for (const int ranks : {1, 2, 3, 4, 7, 8, 16}) {
      const auto count = visits(n, {.num_replicas = ranks, .seed = 3}, 2);
      ASSERT_EQ(count.size(), static_cast<std::size_t>(n)) << n << " samples, " << ranks << " ranks";
      std::int64_t sum = 0;
      for (const auto& [index, times] : count) {
        ASSERT_GE(index, 0);
        ASSERT_LT(index, n);
        ASSERT_LE(times, (ranks + n - 1) / n + (n % ranks == 0 ? 0 : 1)) << index;
        sum += times;
      }
      ASSERT_EQ(sum, (n + ranks - 1) / ranks * ranks);
      if (n % ranks == 0) {
        for (const auto& [index, times] : count) ASSERT_EQ(times, 1) << index;
      }
    }
  }
}

TEST(DistributedSampler, WithDropLastNoSampleIsVisitedTwice) {
  for (const std::int64_t n : {0, 1, 3, 8, 97, 1000}) {
    for (const int ranks : {1, 2, 3, 7, 8}) {
      const auto count = visits(n, {.num_replicas = ranks, .drop_last = true}, 0);
      ASSERT_EQ(count.size(), static_cast<std::size_t>(n / ranks * ranks)) << n << ", " << ranks;
      for (const auto& [index, times] : count) ASSERT_EQ(times, 1) << index;
    }
  }
}

TEST(DistributedSampler, AnotherEpochIsAnotherOrderAndTheSameEpochIsTheSame) {
  DistributedSampler sampler(100, {.num_replicas = 4, .rank = 1, .seed = 9});
  const auto first = sampler.indices();
  EXPECT_EQ(sampler.indices(), first) << "without set_epoch";
  sampler.set_epoch(1);
  const auto second = sampler.indices();
  EXPECT_NE(second, first);
  sampler.set_epoch(0);
  EXPECT_EQ(sampler.indices(), first);
  // seed + epoch is all that counts, as in PyTorch
  EXPECT_EQ(DistributedSampler(100, {.num_replicas = 4, .rank = 1, .seed = 10}).indices(), second);
}

TEST(DistributedSampler, OfNoSamplesGivesNone) {
  EXPECT_EQ(DistributedSampler(0, {.num_replicas = 3, .rank = 2}).indices(), Indices{});
}

TEST(DistributedSampler, RefusesRanksThatAreNone) {
  EXPECT_DIST_ERROR(DistributedSampler(10, {.num_replicas = 2, .rank = 2}), Errc::invalid_argument,
                    "rank is 2, but num_replicas is 2: ranks have the numbers 0 to 1");
  EXPECT_DIST_ERROR(DistributedSampler(10, {.num_replicas = 2, .rank = -1}), Errc::invalid_argument,
                    "rank is -1");
  EXPECT_DIST_ERROR(DistributedSampler(10, {.num_replicas = 0}), Errc::invalid_argument, "num_replicas is 0");
  EXPECT_DIST_ERROR(DistributedSampler(-1, {}), Errc::invalid_argument, "-1 samples");
}

TEST(SequentialSampler, CountsFromZero) { EXPECT_EQ(SequentialSampler(4).indices(), (Indices{0, 1, 2, 3})); }

TEST(ShardSampler, EverySampleBelongsToOneShard) {
  for (const std::int64_t n : {0, 1, 2, 7, 8, 100}) {
    for (const std::int64_t shards : {1, 2, 3, 8}) {
      Indices all;
      for (std::int64_t i = 0; i < shards; ++i) {
        const ShardSampler sampler(n, {i, shards});
        const auto mine = sampler.indices();
        EXPECT_EQ(sampler.size(), static_cast<std::int64_t>(mine.size()));
        EXPECT_LE(std::abs(sampler.size() - n / shards), 1);
        all.insert(all.end(), mine.begin(), mine.end());
      }
      std::ranges::sort(all);
      EXPECT_EQ(all, SequentialSampler(n).indices()) << n << " samples, " << shards << " shards";
    }
  }
  EXPECT_EQ(ShardSampler(10, {1, 4}).indices(), (Indices{1, 5, 9}));
  EXPECT_DIST_ERROR(ShardSampler(10, {4, 4}), Errc::invalid_argument, "shard 4 of 4");
}

TEST(Randperm, IsAPermutationOfAnyLength) {
  for (const std::int64_t n : {0, 1, 2, 3, 1000, 100'000}) {
    auto order = randperm(n, 5);
    std::ranges::sort(order);
    EXPECT_EQ(order, SequentialSampler(n).indices());
  }
}

TEST(Randperm, OnlyTheLower32BitsOfTheSeedCount) {
  EXPECT_EQ(randperm(20, 7 + (std::uint64_t{1} << 32)), randperm(20, 7));
  EXPECT_NE(randperm(20, 8), randperm(20, 7));
}

TEST(Randperm, RefusesWhatPyTorchShufflesInAnotherWay) {
  EXPECT_DIST_ERROR(randperm((std::int64_t{1} << 32) / 20, 0), Errc::unsupported, "below 214748364 elements");
  EXPECT_DIST_ERROR(randperm(-1, 0), Errc::invalid_argument, "-1");
}

}  // namespace
}  // namespace dist::data
