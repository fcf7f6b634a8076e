// Gradients that the user has replaced by other tensors are averaged like the others.
#include <gtest/gtest.h>

#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/parameter_server.h"

#include "ddp_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

constexpr int two_ranks = 2;

void replace(nn::Parameter& parameter) { parameter.grad = zeros_like(parameter.value); }

TEST(ReplacedGradients, AreAveragedInTheirBuckets) {
  run_ranks(two_ranks, [](int rank) {
    Row model({10, 20, 30});
    DistributedDataParallel ddp(model, {.first_bucket_bytes = 100, .bucket_bytes = 200});
    for (int round = 1; round <= 4; ++round) {
      ddp.zero_grad();
      for (const std::size_t i : {0U, 2U}) replace(model[i]);
      step(ddp, rank * round);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(only_value(model[i].grad), static_cast<double>(i + 1) * mean_of_ranks(two_ranks) * round)
            << i;
    }
  });
}

TEST(ReplacedGradients, OfParametersThatABackwardLeavesOut) {
  run_ranks(two_ranks, [](int rank) {
    Row model({4, 5});
    model.left_out = {1};
    DistributedDataParallel ddp(model, {.find_unused_parameters = true});
    model[1].grad = full({5}, rank);
    step(ddp, rank);
    EXPECT_EQ(only_value(model[1].grad), rank) << "no rank has used it";
  });
}

TEST(ReplacedGradients, BetweenBackwardsWithoutSync) {
  run_ranks(two_ranks, [](int rank) {
    Row model({4});
    DistributedDataParallel ddp(model);
    {
      const auto off = ddp.no_sync();
      replace(model[0]);
      step(ddp, rank);
    }
    step(ddp, rank);
    EXPECT_EQ(only_value(model[0].grad), 2 * mean_of_ranks(two_ranks));
  });
}

TEST(ReplacedGradients, OfAnotherDtypeAreRefused) {
  run_ranks(1, [](int) {
    Row model({4, 5});
    DistributedDataParallel ddp(model);
    model.to(DType::f64);
    EXPECT_DIST_ERROR(
        step(ddp, 1), Errc::invalid_argument,
        "the gradient of \"p1\" is f64 5 on cpu now and was f32 5 on cpu when the model was made "
        "parallel");
  });
}

TEST(ReplacedGradients, ReachTheParameterServer) {
  run_ranks(two_ranks, [](int rank) {
    Row model({4, 5});
    nn::SGD optimizer(model.parameters(), {.lr = 1});
    ParameterServer scheme(model, optimizer);
    for (int round = 1; round <= 2; ++round) {
      for (const std::size_t i : {0U, 1U}) replace(model[i]);
      step(model, rank);
      scheme.step();
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_EQ(only_value(model[i].value), -round * static_cast<double>(i + 1) * mean_of_ranks(two_ranks))
            << i;
    }
  });
}

}  // namespace
}  // namespace dist::test
