// DistributedDataParallel and the baselines when a part of the model is not trained.
#include <gtest/gtest.h>

#include "dist/mesh/placed.h"
#include "dist/nn/adam.h"
#include "dist/nn/checkpoint.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/gpt.h"
#include "dist/nn/lora.h"
#include "dist/nn/random.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/data_parallel.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/parameter_server.h"

#include "ddp_support.h"
#include "support/expect_error.h"
#include "support/golden_training.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

using BucketNames = std::vector<std::vector<std::string>>;

// A Row of which some parameters are frozen, as its layers would do it.
class PartlyFrozen final : public Row {
 public:
  using Row::Row;
  void freeze(std::size_t i, bool on = true) {
    (*this)[i].requires_grad(!on);
    std::erase(left_out, i);
    if (on) left_out.push_back(i);
  }
};

TEST(DdpFrozen, WhatIsFrozenIsNeitherSentNorWaitedFor) {
  for (const bool finds_unused : {false, true})
    run_ranks(3, [=](int rank) {
      PartlyFrozen model({10, 20, 30});
      model.freeze(1);
      int sent = 0;
      DistributedDataParallel ddp(model, {.first_bucket_bytes = 1,
                                          .bucket_bytes = 1,
                                          .find_unused_parameters = finds_unused,
                                          .hook = counting_hook(sent)});
      const auto expect_step = [&](const BucketNames& buckets) {
        ddp.zero_grad();
        step(ddp, rank);
        EXPECT_EQ(ddp.buckets(), buckets);
        EXPECT_EQ(std::exchange(sent, 0), std::ssize(buckets));
        for (std::size_t i = 0; i < 3; ++i)
          if (model[i].requires_grad())
            EXPECT_EQ(only_value(model[i].grad), static_cast<double>(i + 1) * mean_of_ranks(3)) << i;
          else
            EXPECT_FALSE(model[i].grad.is_defined()) << i;
      };
      const BucketNames apart{{"p2"}, {"p0"}};
      expect_step(finds_unused ? apart : BucketNames{{"p0", "p2"}});
      expect_step(apart);
      // Later changes are noticed: the buckets are as new.
      model.freeze(2);
      expect_step({{"p0"}});
      model.freeze(1, false);
      expect_step(finds_unused ? BucketNames{{"p1"}, {"p0"}} : BucketNames{{"p0", "p1"}});
      expect_step({{"p1"}, {"p0"}});
      for (const std::size_t i : {0, 1}) model.freeze(i);
      expect_step({});
      ddp.eval();  // a forward in evaluation sends nothing, and so notices nothing
      model.freeze(2, false);
      expect_step({{"p2"}});
    });
}

TEST(DdpFrozen, SumsWithoutSyncStayWhereTheyAre) {
  run_ranks(2, [](int rank) {
    PartlyFrozen model({4, 4});
    model.freeze(1);
    DistributedDataParallel ddp(model);
    {
      const auto off = ddp.no_sync();
      step(ddp, rank);
      model.freeze(1, false);
      step(ddp, rank);
    }
    step(ddp, rank);
    EXPECT_EQ(only_value(model[0].grad), 3 * mean_of_ranks(2));
    EXPECT_EQ(only_value(model[1].grad), 2 * 2 * mean_of_ranks(2));
  });
}

TEST(DdpFrozen, RanksThatFreezeDifferentPartsAreTold) {
  run_ranks(3, [](int rank) {
    PartlyFrozen model({4, 3});
    if (rank == 1) model.freeze(1);
    const std::string said =
        "rank 1 has parameter \"p1\", f32 3, frozen, on a CPU where rank 0 has parameter \"p1\", f32 3, on";
    EXPECT_DIST_ERROR(DistributedDataParallel ddp(model), Errc::mismatch, said);
    model.freeze(1);
    DistributedDataParallel ddp(model);
    step(ddp, 1);
    model.freeze(rank == 1 ? 0 : 1, rank == 1);
    EXPECT_DIST_ERROR(step(ddp, 1), Errc::mismatch, "rank 1 has parameter \"p0\", f32 4, frozen");
  });
}

TEST(DdpFrozen, AModelThatTheRanksHaveDividedIsRefused) {
  run_ranks(2, [](int) {
    Row model({4});
    place(model[0]).axes.push_back({.name = "tp", .placement = Shard(0)});
    EXPECT_DIST_ERROR(
        DistributedDataParallel ddp(model), Errc::invalid_argument,
        "DistributedDataParallel: the ranks of its group have divided \"p0\" among them along tp");
    nn::SGD optimizer(model.parameters());
    EXPECT_DIST_ERROR(ParameterServer(model, optimizer), Errc::invalid_argument,
                      "ParameterServer: the ranks");
  });
}

std::unique_ptr<nn::GPT> make_gpt(bool with_lora, bool recompute = false) {
  nn::manual_seed(1);
  auto gpt = std::make_unique<nn::GPT>(
      nn::GptOptions{.vocab_size = 13, .context = 8, .layers = 2, .heads = 2, .width = 8});
  gpt->to(DType::f64);
  if (with_lora)
    nn::add_lora(*gpt, {.rank = 2});
  else
    gpt->requires_grad(false);
  if (!with_lora) gpt->blocks()[1]->requires_grad(true);
  for (nn::Block* const block : gpt->blocks())
    if (recompute) nn::checkpoint(*block);
  return gpt;
}

Tensor some_tokens(std::int64_t rows, int shift) {
  Tensor tokens = empty({rows, 8}, DType::i64);
  std::int64_t k = shift;
  for (std::int64_t& token : tokens.data<std::int64_t>()) token = k++ * 7 % 13;
  return tokens;
}

// Three steps, of which the last begins with everything trained.
nn::StateDict trained(nn::Module& model, nn::Module& wrapped, int rank, int n) {
  nn::AdamW optimizer(model.parameters(), {.lr = 0.01});
  const auto part = [&](const Tensor& all) { return all.chunk(n)[static_cast<std::size_t>(rank)]; };
  for (int i = 0; i < 3; ++i) {
    if (i == 2) model.requires_grad(true);
    nn::CrossEntropyLoss loss;
    (void)loss.forward(wrapped.forward(part(some_tokens(4, i))), part(some_tokens(4, i + 1)));
    optimizer.zero_grad();
    (void)wrapped.backward(loss.backward());
    optimizer.step();
  }
  return model.state_dict();
}

TEST(DdpFrozen, TrainsAsOneRankDoes) {
  for (const bool with_lora : {false, true}) {
    const auto alone = make_gpt(with_lora);
    const auto expected = trained(*alone, *alone, 0, 1);
    for (const int n : {1, 2, 4})
      run_ranks(n, [&](int rank) {
        const auto model = make_gpt(with_lora, n == 2);
        DistributedDataParallel ddp(*model, {.first_bucket_bytes = 256, .bucket_bytes = 1024});
        const auto got = trained(*model, ddp, rank, n);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const double size = l2_norm(expected[i].tensor),
                       apart = l2_norm(got[i].tensor - expected[i].tensor);
          EXPECT_LE(apart, 1e-9 * size) << expected[i].name << ", " << n << " ranks";
        }
      });
  }
}

TEST(DataParallelFrozen, ReplicasFollowTheFirst) {
  const auto make = [] {
    nn::manual_seed(1);
    auto model = std::make_unique<nn::Sequential>();
    model->add<nn::Linear>(3, 4);
    model->add<nn::Linear>(4, 2);
    return model;
  };
  const auto alone = make();
  DataParallel parallel(make, 2);
  for (nn::Module* const model : {static_cast<nn::Module*>(alone.get()), &parallel.module()})
    (*dynamic_cast<nn::Sequential*>(model))[0].requires_grad(false);
  for (nn::Module* const model :
       {static_cast<nn::Module*>(alone.get()), static_cast<nn::Module*>(&parallel)}) {
    (void)model->forward(ones({4, 3}));
    (void)model->backward(ones({4, 2}));
  }
  const auto expected = alone->parameters(), got = parallel.parameters();
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(got[i]->grad.is_defined(), i >= 2) << i;
    if (i < 2) continue;
    EXPECT_LT(l2_norm(got[i]->grad - expected[i]->grad), 1e-6) << i;
  }
}

TEST(ParameterServerFrozen, OnlyWhatIsTrainedIsSent) {
  run_ranks(3, [](int rank) {
    PartlyFrozen model({2, 3}, 1);
    model.freeze(0);
    nn::SGD optimizer(model.parameters(), {.lr = 1});
    ParameterServer server(model, optimizer);
    const auto take = [&] {
      model.zero_grad();
      step(model, rank);
      server.step();
    };
    take();
    EXPECT_EQ(only_value(model[0].value), 1);
    EXPECT_EQ(only_value(model[1].value), 1 - 2 * mean_of_ranks(3));
    model.freeze(0, false), model.freeze(1);
    take();
    EXPECT_EQ(only_value(model[0].value), 1 - mean_of_ranks(3));
    EXPECT_EQ(only_value(model[1].value), 1 - 2 * mean_of_ranks(3));
  });
}

}  // namespace
}  // namespace dist::test
