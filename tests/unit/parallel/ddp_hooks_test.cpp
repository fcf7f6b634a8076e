// Communication hooks: what may happen to a bucket.
#include <gtest/gtest.h>

#include "dist/parallel/distributed_data_parallel.h"

#include "ddp_support.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

TEST(DdpHooks, HalfOfTheBitsAreEnoughForSmallIntegers) {
  for (const auto& hook : {CommHook(fp16_compress_hook), CommHook(bf16_compress_hook)}) {
    run_ranks(3, [&](int rank) {
      Row model({5, 1000});
      DistributedDataParallel ddp(model, {.hook = hook});
      for (int round = 0; round < 2; ++round) {
        ddp.zero_grad();
        step(ddp, 3 * rank);
        EXPECT_EQ(only_value(model[1].grad), 6);
      }
    });
  }
}

TEST(DdpHooks, CompressionLosesTheBitsItSays) {
  run_ranks(2, [](int) {
    Row model({5});
    DistributedDataParallel half(model, {.hook = fp16_compress_hook});
    step(half, 1 + 1.0 / 1024 + 1.0 / 4096);
    EXPECT_EQ(only_value(model[0].grad), 1 + 1.0 / 1024);
  });
  run_ranks(2, [](int) {
    Row model({5});
    DistributedDataParallel brain(model, {.hook = bf16_compress_hook});
    step(brain, 1e30 * (1 + 1.0 / 1024));
    EXPECT_NEAR(only_value(model[0].grad) / 1e30, 1, 1.0 / 128);
  });
}

TEST(DdpHooks, TheSumOfWhatFitsNeedNotFit) {
  for (const int ranks : {2, 3, 8}) {
    run_ranks(ranks, [](int) {
      Row model({5, 1000});
      DistributedDataParallel ddp(model, {.hook = fp16_compress_hook});
      step(ddp, 20'000);  // parameter i of the row has (i + 1) times that
      EXPECT_NEAR(only_value(model[1].grad), 40'000, 64) << "two bits of f16";
    });
  }
}

TEST(DdpHooks, AHookMayHaveNothingLeftToDo) {
  run_ranks(2, [](int rank) {
    Row model({4});
    DistributedDataParallel ddp(model, {.hook = [](const GradBucket&) { return std::function<void()>(); }});
    EXPECT_NO_THROW(step(ddp, rank));
  });
}

TEST(DdpHooks, ItsCallsAreOfTheLineThatMadeTheModelParallel) {
  run_ranks(1, [](int) {
    Row model({5, 6});
    std::string line;
    const auto hook = [&line](const GradBucket& bucket) {
      line = bucket.where.str();
      return std::function<void()>();
    };
    DistributedDataParallel ddp(model, {.hook = hook});
    step(ddp, 1);
    EXPECT_EQ(line, fmt::format("ddp_hooks_test.cpp:{}", __LINE__ - 2));
  });
}

TEST(DdpHooks, ACustomHookIsWhatIsDone) {
  run_ranks(2, [](int rank) {
    Row model({5, 6});
    DistributedDataParallel ddp(model, {.hook = [](const GradBucket& bucket) {
                                  Tensor gradients = bucket.gradients;
                                  EXPECT_EQ(gradients.numel(), 11);
                                  EXPECT_EQ(bucket.count, 1U);
                                  return [gradients]() mutable { all_reduce(gradients, ReduceOp::max); };
                                }});
    step(ddp, rank);
    EXPECT_EQ(only_value(model[0].grad), 1);
  });
}

}  // namespace
}  // namespace dist::test
