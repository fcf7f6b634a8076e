// Training as PyTorch trains, as every rank sees it; and proof that the comparison detects differences.
#include <gtest/gtest.h>

#include "dist/parallel/distributed_data_parallel.h"

#include "support/golden_differences.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

using None = std::vector<std::string>;

std::vector<std::string> differences_with(const GoldenRun& run, int rank, const DdpOptions& options) {
  return golden_differences(run, rank, [&](nn::Module& model) {
    return std::make_unique<DistributedDataParallel>(model, options);
  });
}

class GoldenDdp : public testing::TestWithParam<GoldenRun> {};

TEST_P(GoldenDdp, EveryRankSeesWhatPyTorchsRanksSaw) {
  run_ranks(GetParam().world_size,
            [](int rank) { EXPECT_EQ(differences_with(GetParam(), rank, {}), None()) << "rank " << rank; });
}

TEST_P(GoldenDdp, WhateverTheAlgorithmAndTheBuckets) {
  for (const std::string algorithm : {"ring", "tree", "double_binary_tree", "recursive_doubling"}) {
    run_ranks(GetParam().world_size, [&](int rank) {
      const auto by_algorithm = [&](const GradBucket& bucket) {
        Tensor gradients = bucket.gradients;
        Work work = all_reduce(gradients, ReduceOp::avg,
                               {.group = bucket.group, .async_op = true, .algorithm = algorithm});
        return [work]() mutable { work.wait(); };
      };
      const DdpOptions options{.first_bucket_bytes = 64, .bucket_bytes = 256, .hook = by_algorithm};
      EXPECT_EQ(differences_with(GetParam(), rank, options), None()) << algorithm << ", rank " << rank;
    });
  }
}

// The test of the test.
class GoldenDdpOfSeveral : public GoldenDdp {};

TEST_P(GoldenDdpOfSeveral, WithoutExchangeOrWithASumItIsNotTheSame) {
  run_ranks(GetParam().world_size, [](int rank) {
    const auto none = [](const GradBucket&) { return [] {}; };
    EXPECT_NE(differences_with(GetParam(), rank, {.hook = none}), None()) << "rank " << rank;
    const auto sums = [](const GradBucket& bucket) {
      return [gradients = bucket.gradients, group = bucket.group]() mutable {
        all_reduce(gradients, ReduceOp::sum, {.group = group});
      };
    };
    EXPECT_NE(differences_with(GetParam(), rank, {.hook = sums}), None()) << "rank " << rank;
  });
}

std::vector<GoldenRun> runs_from(int world_size) {
  auto runs = golden_runs();
  std::erase_if(runs, [&](const auto& run) { return run.world_size < world_size; });
  return runs;
}

const auto name_of = [](const auto& test) { return test.param.name(); };
INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenDdp, testing::ValuesIn(runs_from(1)), name_of);
INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenDdpOfSeveral, testing::ValuesIn(runs_from(2)), name_of);

}  // namespace
}  // namespace dist::test
