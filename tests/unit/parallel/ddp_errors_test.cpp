// What goes wrong with DistributedDataParallel is said on every rank, and no rank hangs.
#include <gtest/gtest.h>

#include "dist/parallel/distributed_data_parallel.h"

#include "ddp_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

TEST(DdpErrors, ModelsThatDifferAreRefusedOnAllRanks) {
  run_ranks(3, [](int rank) {
    Row other_shape({4, rank == 2 ? 5 : 3});
    EXPECT_DIST_ERROR(DistributedDataParallel ddp(other_shape), Errc::mismatch,
                      "rank 2 has parameter \"p1\", f32 5, on a CPU where rank 0 has parameter \"p1\", f32 "
                      "3, on a CPU: every "
                      "rank must pass the same");
    Row one_more(rank == 1 ? std::vector<std::int64_t>{4, 3, 1} : std::vector<std::int64_t>{4, 3});
    EXPECT_DIST_ERROR(DistributedDataParallel ddp(one_more), Errc::mismatch,
                      "rank 1 has parameter \"p2\", f32 1, on a CPU where rank 0 has nothing more");
    Row other_dtype({4}, 0, rank == 0 ? DType::f64 : DType::f32);
    EXPECT_DIST_ERROR(DistributedDataParallel ddp(other_dtype), Errc::mismatch, "rank 1 has");
  });
}

TEST(DdpErrors, AnEmptyHookIsRefused) {
  run_ranks(2, [](int) {
    Row model({4});
    EXPECT_DIST_ERROR(DistributedDataParallel ddp(model, {.hook = {}}), Errc::invalid_argument,
                      ".hook is empty");
  });
}

TEST(DdpErrors, ParametersWithoutAGradientAreNamed) {
  const std::vector found{check::Code::deadlock};  // for the simulator's checker rank 1 just ends
  const auto body = [](int rank, const auto& store) {
    init_process_group({.rank = rank, .world_size = 2, .timeout = std::chrono::seconds(20), .store = store});
    Row model({4, 4, 4});
    if (rank == 1) model.left_out = {0, 2};
    DistributedDataParallel ddp(model);
    if (rank == 1) {
      EXPECT_DIST_ERROR(step(ddp, 1), Errc::invalid_argument,
                        "2 of 3 parameters got no gradient, the other ranks wait for them: \"p0\", \"p2\"");
    } else {
      EXPECT_THROW(step(ddp, 1), Error);
    }
    destroy_process_group();
  };
  run_unjoined(2, body, found);
}

TEST(DdpErrors, AParameterInTwoPlacesIsNamed) {
  const auto body = [](int) {
    // The model only says so twice: adding to a gradient that is in flight would be a data race.
    class Twice : public Row {
     public:
      using Row::Row;
      Tensor run_backward(const Tensor& grad) override {
        Tensor grad_input = Row::run_backward(grad);
        (*this)[1].grad_is_ready();
        return grad_input;
      }
    } model({4, 4});
    DistributedDataParallel ddp(model);
    EXPECT_DIST_ERROR(step(ddp, 1), Errc::invalid_argument, "parameter \"p1\" was ready twice");
  };
  run_ranks(1, body);  // nor is the Work of an unfinished bucket reported as dropped by the user
}

TEST(DdpErrors, AModelThatIsWrappedTwiceIsSaid) {
  run_ranks(2, [](int rank) {
    Row model({4});
    auto first = std::make_unique<DistributedDataParallel>(model);
    auto second = std::make_unique<DistributedDataParallel>(model);
    EXPECT_DIST_ERROR(step(*first, 1), Errc::invalid_argument,
                      "this model is already wrapped by another DistributedDataParallel");
    step(*second, rank);
    EXPECT_EQ(only_value(model[0].grad), mean_of_ranks(2));
    first.reset();
    model.zero_grad();
    step(*second, rank);
    EXPECT_EQ(only_value(model[0].grad), mean_of_ranks(2));
  });
}

// What a backward that failed has begun ends with it: under no_sync() nothing is sent.
TEST(DdpErrors, AfterABackwardThatFailedNoSyncSendsNothing) {
  run_ranks(2, [](int rank) {
    class Fails : public Row {
     public:
      using Row::Row;
      Tensor run_backward(const Tensor& grad) override {
        if (fails) fail(Errc::invalid_argument, "this one fails");
        return Row::run_backward(grad);
      }
      bool fails = true;
    } model({4, 4});
    int sent = 0;
    DistributedDataParallel ddp(model, {.hook = counting_hook(sent)});
    EXPECT_DIST_ERROR(step(ddp, 1), Errc::invalid_argument, "this one fails");
    model.fails = false;
    {
      const auto off = ddp.no_sync();
      step(ddp, rank);
    }
    EXPECT_EQ(sent, 0);
    EXPECT_EQ(only_value(model[0].grad), rank);
    step(ddp, rank);
    EXPECT_EQ(sent, 1);
    EXPECT_EQ(only_value(model[0].grad), 2 * mean_of_ranks(2));
  });
}

// On every rank one backward throws at parameter k, with the buckets before it under way. After zero_grad()
// nothing of it is left; `without_sync`: nor of the sums of a backward before it.
TEST(DdpErrors, AStepThatEveryRankGivesUpLeavesNothing) {
  constexpr std::int64_t elements = 1 << 18;  // large enough to be on its way for a while
  for (const bool without_sync : {false, true})
    for (const std::size_t k : {3, 2, 1, 0})
      run_ranks(3, [=](int rank) {
        Row model(std::vector<std::int64_t>(4, elements));
        int sent = 0;
        DistributedDataParallel ddp(
            model, {.first_bucket_bytes = 1, .bucket_bytes = 1, .hook = counting_hook(sent)});
        for (int round = 0; round < 2; ++round) {
          ddp.zero_grad();
          if (round == 0) step(ddp, 1);  // from now on each parameter has a bucket
          if (without_sync) {
            const auto off = ddp.no_sync();
            step(ddp, 5);
          }
          model.before_ready = [&](std::size_t i) {
            if (i == k) fail(Errc::resource, "out of memory");
          };
          sent = 0;
          EXPECT_DIST_ERROR(step(ddp, 7 + rank), Errc::resource, "out of memory");
          EXPECT_EQ(sent, 3 - static_cast<int>(k));
          model.before_ready = {};
          ddp.zero_grad();
          for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(only_value(model[i].grad), 0);
          step(ddp, rank);
          for (std::size_t i = 0; i < 4; ++i)
            EXPECT_EQ(only_value(model[i].grad), static_cast<double>(i + 1) * mean_of_ranks(3))
                << i << ", error at " << k;
        }
      });
}

// The line of the options, where the constructor is called from the standard library.
TEST(DdpErrors, OneThatMakeUniqueMakesNamesTheUsersLine) {
  run_ranks(1, [](int) {
    Row model({4});
    std::string where;
    const CommHook hook = [&](const GradBucket& bucket) {
      where = bucket.where.str();
      return all_reduce_hook(bucket);
    };
    const auto line = __LINE__ + 1;
    const auto ddp = std::make_unique<DistributedDataParallel>(model, DdpOptions{.hook = hook});
    step(*ddp, 1);
    EXPECT_EQ(where, "ddp_errors_test.cpp:" + std::to_string(line));
  });
}

// Rank 1 has one batch more; rank 0 calls `behind` instead, after its last one.
void train_unevenly(Errc expected, const std::string& said, const std::function<void()>& behind,
                    const std::vector<check::Code>& found) {
  const auto body = [&](int rank, const auto& store) {
    init_process_group({.rank = rank, .world_size = 2, .timeout = std::chrono::seconds(20), .store = store});
    {
      Row model({4, 4});
      DistributedDataParallel ddp(model);
      for (int i = 0; i < 2; ++i) step(ddp, 1);
      if (rank == 0) behind();
      if (rank == 1) EXPECT_DIST_ERROR(step(ddp, 1), expected, said);
    }
    destroy_process_group();
  };
  run_unjoined(2, body, found);
}

TEST(DdpErrors, ARankWithABatchMoreIsToldWhoLeft) {
  const auto* const said =
      ranks_are_simulated() ? "rank 0, which has left the job" : "rank 0 has left the job";
  train_unevenly(Errc::peer_failed, said, [] {}, {check::Code::deadlock});
}

TEST(DdpErrors, ARankWithABatchMoreIsToldWhatTheOthersDo) {
  const auto sum_of_losses = [] {
    Tensor losses = zeros({2}, DType::f64);
    EXPECT_DIST_ERROR(all_reduce(losses), Errc::mismatch, "f64");
  };
  train_unevenly(Errc::mismatch, "all_reduce", sum_of_losses, {check::Code::mismatched_collective});
}

TEST(DdpErrors, AModelThatIsLeftGoesOnAlone) {
  run_ranks(2, [](int rank) {
    Row model({4});
    {
      DistributedDataParallel ddp(model);
      step(ddp, rank);
    }
    step(model, 1);
    EXPECT_EQ(only_value(model[0].grad), 1.5);
  });
}

}  // namespace
}  // namespace dist::test
