// What DistributedDataParallel promises, on models whose gradients are known.
#include "dist/parallel/distributed_data_parallel.h"

#include <gtest/gtest.h>

#include "ddp_support.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

TEST(Ddp, GradientsAreTheAverageAndValuesAreRankZeros) {
  for (const int n : {1, 2, 3, 5}) {
    run_ranks(n, [n](int rank) {
      Row model({3, 1, 70'000, 2}, rank + 1);
      DistributedDataParallel ddp(model);
      for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(only_value(model[i].value), 1) << i;
      for (int round = 1; round <= 3; ++round) {
        ddp.zero_grad();
        step(ddp, rank * round);
        for (std::size_t i = 0; i < 4; ++i)
          EXPECT_EQ(only_value(model[i].grad), static_cast<double>(i + 1) * mean_of_ranks(n) * round) << i;
      }
    });
  }
}

TEST(Ddp, TheFirstStepHasOneBucketAndLaterOnesFollowTheGradients) {
  run_ranks(2, [](int rank) {
    Row model({10, 20, 30, 40});
    DistributedDataParallel ddp(model, {.first_bucket_bytes = 100, .bucket_bytes = 200});
    using Names = std::vector<std::vector<std::string>>;
    EXPECT_EQ(ddp.buckets(), (Names{{"p0", "p1", "p2", "p3"}}));
    step(ddp, rank);
    const Tensor before = model[2].grad.clone();
    step(ddp, 0);  // rebuilt before: what had been there is still there
    EXPECT_EQ(ddp.buckets(), (Names{{"p3"}, {"p2", "p1"}, {"p0"}}));
    EXPECT_TRUE(equal(model[2].grad, before));
  });
}

TEST(Ddp, GradientsLieInTheirBuckets) {
  run_ranks(1, [](int) {
    Row model({10, 20});
    DistributedDataParallel ddp(model);
    EXPECT_EQ(static_cast<char*>(model[1].grad.raw()) - static_cast<char*>(model[0].grad.raw()), 40);
  });
}

TEST(Ddp, EachDtypeHasABucket) {
  run_ranks(2, [](int rank) {
    class Two : public nn::Module {
     public:
      Two() {
        register_module("a", a);
        register_module("b", b);
      }
      Tensor run_forward(const Tensor& input) override { return input; }
      Tensor run_backward(const Tensor& grad) override { return a.backward(b.backward(grad)); }
      Row a{{5, 6}}, b{{7}, 0, DType::f64};
    } model;
    DistributedDataParallel ddp(model);
    EXPECT_EQ(ddp.buckets().size(), 2U);
    for (int round = 0; round < 2; ++round) step(ddp, rank);
    EXPECT_EQ(only_value(model.a[1].grad), 2 * mean_of_ranks(2) * 2);
    EXPECT_EQ(only_value(model.b[0].grad), mean_of_ranks(2) * 2);
  });
}

TEST(Ddp, WithoutSyncGradientsAddUpAndNothingIsSent) {
  for (const int n : {1, 2, 3}) {
    run_ranks(n, [n](int rank) {
      Row model({100, 1});
      int sent = 0;
      DistributedDataParallel ddp(model, {.hook = counting_hook(sent)});
      for (int round = 0; round < 2; ++round) {
        ddp.zero_grad();
        {
          const auto guard = ddp.no_sync();
          step(ddp, rank);
          step(ddp, 10 * rank);
        }
        EXPECT_EQ(sent, round);
        EXPECT_EQ(only_value(model[1].grad), 2 * 11 * rank);
        step(ddp, 100 * rank);
        EXPECT_EQ(sent, round + 1);
        EXPECT_EQ(only_value(model[1].grad), 2 * 111 * mean_of_ranks(n));
      }
    });
  }
}

TEST(Ddp, NoSyncCanBeMoved) {
  run_ranks(2, [](int rank) {
    Row model({3});
    int sent = 0;
    DistributedDataParallel ddp(model, {.hook = counting_hook(sent)});
    const auto sends = [&] {
      step(ddp, rank);
      return std::exchange(sent, 0) > 0;
    };
    const auto make = [&] { return ddp.no_sync(); };
    std::optional<DistributedDataParallel::NoSync> one = make(), two;
    EXPECT_FALSE(sends());
    two = std::move(one);
    one.reset();
    EXPECT_FALSE(sends());
    one = make();  // two of them, which end in any order
    two.reset();
    EXPECT_FALSE(sends());
    one = make();
    EXPECT_FALSE(sends());
    one.reset();
    EXPECT_TRUE(sends());
  });
}

TEST(Ddp, BucketsStartInOrderWhateverTheOrderOfTheGradients) {
  run_ranks(3, [](int rank) {
    // Rank 0's order decides; the others' gradients come the other way round.
    class Turned : public Row {
     public:
      using Row::Row;
      Tensor run_backward(const Tensor& grad) override {
        if (get_rank() == 0) return Row::run_backward(grad);
        for (std::size_t i = 0; i < 3; ++i) {
          (*this)[i].grad.fill_(static_cast<double>(i + 1) * grad.item<double>());
          (*this)[i].grad_is_ready();
        }
        return grad;
      }
    } model({4, 4, 4});
    std::vector<std::size_t> order;
    DistributedDataParallel ddp(model,
                                {.first_bucket_bytes = 1, .bucket_bytes = 1, .hook = [&](auto& bucket) {
                                   order.push_back(bucket.index);
                                   return all_reduce_hook(bucket);
                                 }});
    for (int round = 0; round < 3; ++round) {
      ddp.zero_grad();
      step(ddp, rank);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(only_value(model[i].grad), static_cast<double>(i + 1) * mean_of_ranks(3));
    }
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(ddp.buckets(), (std::vector<std::vector<std::string>>{{"p2"}, {"p1"}, {"p0"}}));
  });
}

TEST(Ddp, UnusedParametersGoAlong) {
  run_ranks(2, [](int rank) {
    Row model({8, 8, 8});
    if (rank == 1) model.left_out = {1};
    DistributedDataParallel ddp(model, {.first_bucket_bytes = 1, .find_unused_parameters = true});
    EXPECT_EQ(ddp.buckets().size(), 2U);
    for (int round = 0; round < 2; ++round) {
      ddp.zero_grad();
      step(ddp, 10);
      EXPECT_EQ(only_value(model[0].grad), 10);
      EXPECT_EQ(only_value(model[1].grad), 10) << "half of rank 0's 20";
      EXPECT_EQ(only_value(model[2].grad), 30);
    }
  });
}

TEST(Ddp, AGradientThatNoRankUsesIsLeftAlone) {
  run_ranks(3, [](int rank) {
    Row model({8, 8, 8});
    model.left_out = {1};
    if (rank == 1) model.left_out.push_back(2);
    DistributedDataParallel ddp(model, {.find_unused_parameters = true});
    for (int round = 0; round < 2; ++round) {
      model[1].grad.fill_(rank + 5);
      model[2].grad.fill_(rank == 1 ? 3 : 0);
      step(ddp, 10);
      EXPECT_EQ(only_value(model[1].grad), rank + 5) << "as it was, on each rank";
      EXPECT_EQ(only_value(model[2].grad), 21) << "30, what rank 1 had (3), and 30, over three ranks";
    }
  });
}

// Running statistics and a counter, as BatchNorm2d has.
class Counts : public Row {
 public:
  explicit Counts(int rank) : Row({2}) {
    mean.value = full({2}, rank);
    count.value = full({1}, 10 * rank, DType::i64);
    register_buffer("running_mean", mean);
    register_buffer("count", count);
  }
  Tensor run_forward(const Tensor& input) override {
    if (is_training()) {
      mean.value.add_(full({2}, get_rank() + 1));
      count.value.add_(ones({1}, DType::i64));
    }
    return input;
  }
  nn::Buffer mean, count;
};

TEST(Ddp, BuffersAreRankZerosAtEachForward) {
  run_ranks(3, [](int rank) {
    Counts model(rank + 5);
    DistributedDataParallel ddp(model);
    EXPECT_EQ(only_value(model.mean.value), 5);
    for (int round = 1; round <= 2; ++round) {
      step(ddp, 1);
      EXPECT_EQ(only_value(model.mean.value), 5 + (round - 1) + (rank + 1)) << "rank 0 counts by one";
      EXPECT_EQ(only_value(model.count.value), 50 + round);
    }
    ddp.eval();
    (void)ddp.forward(ones({1}));
    EXPECT_EQ(only_value(model.mean.value), 6 + (rank + 1)) << "in evaluation each has its own";
  });
}

// As in torch: at the first forward() of several that accumulate.
TEST(Ddp, BuffersUnderAccumulationAreBroadcastOnce) {
  run_ranks(3, [](int rank) {
    Counts model(0);
    DistributedDataParallel ddp(model);
    for (int round = 0; round < 2; ++round) {
      const double before = 3 * round;  // rank 0's
      for (int i = 1; i <= 3; ++i) {
        std::optional<DistributedDataParallel::NoSync> off;
        if (i < 3) off = ddp.no_sync();
        step(ddp, 1);
        EXPECT_EQ(only_value(model.mean.value), before + i * (rank + 1)) << round << ' ' << i;
      }
    }
  });
}

TEST(Ddp, TheNextWrapperOfAModelTakesOver) {
  run_ranks(2, [](int rank) {
    Row model({4});
    auto ddp = std::make_unique<DistributedDataParallel>(model);
    step(*ddp, rank);
    ddp = std::make_unique<DistributedDataParallel>(model);  // made before the old one goes
    step(*ddp, rank);
    ddp.reset();
    EXPECT_EQ(model.parameters()[0]->listener("ddp"), nullptr);
  });
}

TEST(Ddp, InAGroup) {
  run_ranks(4, [](int rank) {
    const auto half = split_group(rank % 2, -rank);  // group rank 0 is global rank 2, or 3
    Row model({5}, rank);
    DistributedDataParallel ddp(model, {.group = half});
    EXPECT_EQ(only_value(model[0].value), rank % 2 + 2);
    step(ddp, rank);
    EXPECT_EQ(only_value(model[0].grad), rank % 2 + 1) << "the average of 0 and 2, or of 1 and 3";
  });
}

TEST(Ddp, NamesAndStateAreThoseOfTheModelBelowModule) {
  run_ranks(1, [](int) {
    Counts model(0);
    DistributedDataParallel ddp(model);
    std::vector<std::string> names;
    for (const auto& [name, tensor] : ddp.state_dict()) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"module.p0", "module.running_mean", "module.count"}));
  });
}

TEST(Ddp, AnEmptyModelAndAModelOfEmptyTensors) {
  run_ranks(2, [](int) {
    Row nothing({});
    DistributedDataParallel ddp(nothing);
    step(ddp, 1);
    Row empty({0, 3, 0});
    DistributedDataParallel other(empty);
    for (int round = 0; round < 2; ++round) step(other, 1);
    EXPECT_EQ(only_value(empty[1].grad), 4);
  });
}

}  // namespace
}  // namespace dist::test
