#include "dist/data/data_loader.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "dist/data/digits.h"

#include "numbers.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::data {
namespace {

using test::Numbers;
using test::NumberStream;
using test::targets_of;
using Targets = std::vector<std::vector<std::int64_t>>;

TEST(DataLoader, MakesBatchesInOrder) {
  const Numbers numbers(5);
  const DataLoader loader(numbers, {.batch_size = 2});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(targets_of(loader), (Targets{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(targets_of(loader), (Targets{{0, 1}, {2, 3}, {4}})) << "a second epoch";
  const DataLoader dropping(numbers, {.batch_size = 2, .drop_last = true});
  EXPECT_EQ(dropping.size(), 2);
  EXPECT_EQ(targets_of(dropping), (Targets{{0, 1}, {2, 3}}));
}

TEST(DataLoader, OneBatchMayHoldMoreThanThereIs) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const Numbers numbers(3);
  const DataLoader loader(numbers, {.batch_size = most, .workers = 1});
  EXPECT_EQ(loader.size(), 1);
  EXPECT_EQ(targets_of(loader), (Targets{{0, 1, 2}}));
  EXPECT_EQ(DataLoader(numbers, {.batch_size = most, .drop_last = true}).size(), 0);
  const NumberStream stream(3);
  EXPECT_EQ(targets_of(DataLoader(stream, {}, {.batch_size = most, .workers = 1, .prefetch = 4})),
            (Targets{{0, 1, 2}}));
}

TEST(DataLoader, BatchesHaveWhatTheirSamplesHave) {
  const Numbers numbers(3);
  const DataLoader loader(numbers, {.batch_size = 3, .workers = 1});
  const auto first = loader.begin();
  EXPECT_EQ(first->inputs.shape(), (Shape{3, 2}));
  EXPECT_EQ(first->inputs.to_vector<float>(), (std::vector<float>{0, 0, 1, -1, 2, -2}));
}

TEST(DataLoader, TheSameBatchesInTheSameOrderForAnyNumberOfWorkers) {
  for (const std::int64_t n : {0, 1, 7, 64, 101}) {
    const Numbers numbers(n);
    const NumberStream stream(n);
    DistributedSampler sampler(n, {.num_replicas = 2, .rank = 1, .seed = 4});
    for (const std::int64_t batch : {1, 3, 64}) {
      for (const bool drop : {false, true}) {
        const auto options = [&](int workers) {
          return LoaderOptions{
              .batch_size = batch, .drop_last = drop, .workers = workers, .prefetch = 1 + workers % 3};
        };
        const auto shuffled = targets_of(DataLoader(numbers, sampler, options(0)));
        const auto streamed = targets_of(DataLoader(stream, {}, options(0)));
        EXPECT_EQ(streamed, targets_of(DataLoader(numbers, options(0))));
        EXPECT_EQ(DataLoader(numbers, sampler, options(0)).size(),
                  static_cast<std::int64_t>(shuffled.size()));
        for (const int workers : {1, 2, 3, 4}) {
          EXPECT_EQ(targets_of(DataLoader(numbers, sampler, options(workers))), shuffled)
              << n << " samples, batch " << batch << ", " << workers << " workers";
          EXPECT_EQ(targets_of(DataLoader(stream, {}, options(workers))), streamed)
              << n << " samples of a stream, batch " << batch << ", " << workers << " workers";
        }
      }
    }
  }
}

TEST(DataLoader, FollowsItsSamplersEpoch) {
  const Numbers numbers(16);
  DistributedSampler sampler(16, {.seed = 1});
  const DataLoader loader(numbers, sampler, {.batch_size = 16, .workers = 2});
  EXPECT_EQ(targets_of(loader), Targets{sampler.indices()});
  const auto first = sampler.indices();
  sampler.set_epoch(1);
  EXPECT_NE(sampler.indices(), first);
  EXPECT_EQ(targets_of(loader), Targets{sampler.indices()});
}

TEST(DataLoader, AnIterableDatasetIsReadOnceByAllWorkersOfAllRanks) {
  for (const int ranks : {1, 2, 3, 4}) {
    for (const int workers : {0, 1, 2, 3, 4}) {
      const NumberStream stream(50);
      std::vector<std::int64_t> all;
      for (int rank = 0; rank < ranks; ++rank) {
        for (const auto& batch :
             targets_of(DataLoader(stream, {rank, ranks}, {.batch_size = 4, .workers = workers})))
          all.insert(all.end(), batch.begin(), batch.end());
      }
      std::ranges::sort(all);
      EXPECT_EQ(all, SequentialSampler(50).indices()) << ranks << " ranks, " << workers << " workers";
    }
  }
}

TEST(DataLoader, ARanksBatchesDoNotDependOnItsWorkers) {
  const NumberStream stream(50);
  const auto batches = [&](int workers) {
    return targets_of(DataLoader(stream, {1, 3}, {.batch_size = 4, .workers = workers}));
  };
  for (const int workers : {1, 2, 3, 5}) EXPECT_EQ(batches(workers), batches(0)) << workers;
}

TEST(DataLoader, AnErrorOfAWorkerComesOutWhereItsBatchWouldBe) {
  const Numbers numbers(20, 9);
  const NumberStream stream(20, 9);
  for (const int workers : {0, 1, 2, 3}) {
    for (const auto& loader : {DataLoader(numbers, {.batch_size = 2, .workers = workers}),
                               DataLoader(stream, {}, {.batch_size = 2, .workers = workers})}) {
      std::int64_t seen = 0;
      dist::test::expect_error(Errc::invalid_argument, {"sample 9 is broken"}, [&] {
        for (const auto& batch : loader) seen += batch.size();
      });
      EXPECT_EQ(seen, 8) << workers << " workers";
    }
  }
}

TEST(DataLoader, CanBeLeftInTheMiddleOfAnEpoch) {
  const Numbers numbers(1000);
  const DataLoader loader(numbers, {.batch_size = 1, .workers = 3, .prefetch = 5});
  for (int i = 0; i < 20; ++i) {
    for (const auto& batch : loader) {
      EXPECT_EQ(batch.targets.item<int>(), 0);
      break;
    }
  }
}

TEST(DataLoader, RefusesOptionsWithoutSense) {
  const Numbers numbers(2);
  const NumberStream stream(2);
  EXPECT_DIST_ERROR(DataLoader(numbers, {.batch_size = 0}), Errc::invalid_argument, "batch_size is 0");
  EXPECT_DIST_ERROR(DataLoader(numbers, {.workers = -1}), Errc::invalid_argument, "-1 workers");
  EXPECT_DIST_ERROR(DataLoader(numbers, {.prefetch = 0}), Errc::invalid_argument, "prefetch is 0");
  EXPECT_DIST_ERROR(DataLoader(stream, {2, 2}), Errc::invalid_argument, "shard 2 of 2");
  EXPECT_DIST_ERROR(DataLoader(stream, {}).size(), Errc::unsupported, "until there are no more");
}

TEST(DataLoader, DigitsFromManyThreadsAreTheSame) {
  const Digits digits(200, 3);
  std::vector<Tensor> inputs;
  for (const auto& batch : DataLoader(digits, {.batch_size = 50})) inputs.push_back(batch.inputs);
  std::size_t i = 0;
  for (const auto& batch : DataLoader(digits, {.batch_size = 50, .workers = 4}))
    EXPECT_TRUE(equal(batch.inputs, inputs[i++]));
  EXPECT_EQ(i, 4U);
}

// On real and on virtual ranks, a loader's threads belong to the rank.
TEST(DataLoaderOfRanks, EachLoadsItsShare) {
  constexpr int n = 3;
  std::vector<int> visits(20);
  std::mutex mutex;
  dist::test::run_ranks(n, [&](int rank) {
    const Numbers numbers(20);
    const DistributedSampler sampler(20, {.num_replicas = n, .rank = rank, .drop_last = true});
    const DataLoader loader(numbers, sampler, {.batch_size = 2, .workers = 2});
    std::int64_t batches = 0;
    for (const auto& [inputs, targets] : loader) {
      ++batches;
      auto sum = inputs.clone();
      all_reduce(sum);  // so long as all have the same number of batches
      const std::lock_guard lock(mutex);
      for (const auto index : targets.to_vector<std::int64_t>()) ++visits[static_cast<std::size_t>(index)];
    }
    EXPECT_EQ(batches, 3);
  });
  EXPECT_EQ(std::ranges::count(visits, 1), 18);
  EXPECT_EQ(std::ranges::count(visits, 0), 2);
}

}  // namespace
}  // namespace dist::data
