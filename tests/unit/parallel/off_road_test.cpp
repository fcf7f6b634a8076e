// Uses that one would not expect, and that once gave wrong numbers without a word, or waited forever.
#include <filesystem>
#include <type_traits>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/mesh/device_mesh.h"
#include "dist/nn/batch_norm2d.h"
#include "dist/nn/lora.h"
#include "dist/nn/nn.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/context/ring_attention.h"
#include "dist/parallel/data_parallel.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/full_state.h"
#include "dist/parallel/pipeline/gpt_pipeline.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"
#include "dist/parallel/tensor/vocab_cross_entropy.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"
#include "unit/parallel/two_layers.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<ContextParallel> && !std::is_move_constructible_v<GptPipeline>,
              "models keep their addresses");

TEST(OffRoad, DdpLeavesTheModesOfLayersAlone) {
  run_ranks(2, [](int) {
    nn::Sequential model;
    model.add<nn::BatchNorm2d>(2);
    model.add<nn::ReLU>();
    model[0].eval();
    DistributedDataParallel ddp(model);
    EXPECT_FALSE(model[0].is_training());
    EXPECT_TRUE(model[1].is_training() && ddp.is_training());
  });
}

// A layer that only the backward without an exchange has used.
TEST(OffRoad, WhatWasUsedWithoutAnExchangeIsAveraged) {
  run_ranks(2, [](int rank) {
    struct Branches final : nn::Module {
      TwoLayers layers;
      bool uses_b = true;
      Branches() { register_module("layers", layers); }
      Tensor run_forward(const Tensor& input) override {
        return uses_b ? layers.forward(input) : layers.a.forward(input);
      }
      Tensor run_backward(const Tensor& grad) override {
        return uses_b ? layers.backward(grad) : layers.a.backward(grad);
      }
    } model;
    DistributedDataParallel ddp(model, {.find_unused_parameters = true});
    const auto run = [&] { (void)ddp.backward(ddp.forward(full({2, 4}, 1 + rank, DType::f64))); };
    {
      const auto none = ddp.no_sync();
      run();
    }
    model.uses_b = false;
    run();
    const double mine = model.layers.b.bias()->grad.to_vector<double>()[0];
    EXPECT_EQ(all_gather_object(fmt::format("{}", mine)), std::vector(2, fmt::format("{}", mine)));
    EXPECT_NE(mine, 0);
  });
}

TEST(OffRoad, DataParallelKeepsTheModesOfLayers) {
  DataParallel model(
      [] {
        auto made = std::make_unique<nn::Sequential>();
        made->add<nn::Dropout>(0.5);
        return made;
      },
      2);
  static_cast<nn::Sequential&>(model.module())[0].eval();
  const Tensor output = model.forward(ones({4, 3, 2}, DType::f64));
  for (const double x : output.to_vector<double>()) EXPECT_EQ(x, 1) << "no replica drops anything";
}

TEST(OffRoad, ABufferThatWasReplacedIsBroadcast) {
  run_ranks(2, [](int rank) {
    nn::Sequential model;
    model.add<nn::BatchNorm2d>(2);
    DistributedDataParallel ddp(model);
    const auto buffers = model.named_buffers();
    for (const auto& [name, buffer] : buffers)
      if (buffer->value.dtype() == DType::f32) buffer->value = full(buffer->value.shape(), 1 + rank);
    model[0].eval();
    for (int i = 0; i < 2; ++i) (void)ddp.backward(ddp.forward(ones({2, 2, 1, 1})));
    for (const auto& [name, buffer] : buffers)
      if (buffer->value.dtype() == DType::f32) {
        EXPECT_EQ(buffer->value.to_vector<float>()[0], 1) << name;
      }
  });
}

TEST(OffRoad, DdpRefusesAModelThatHasGrown) {
  run_ranks(2, [](int) {
    TwoLayers model;
    DistributedDataParallel ddp(model);
    once(ddp);
    (void)nn::add_lora(model, {.rank = 2});
    EXPECT_DIST_ERROR(once(ddp), Errc::invalid_argument, "when DistributedDataParallel wrapped it");
  });
}

TEST(OffRoad, FreezingTogetherGoesOn) {
  run_ranks(2, [](int) {
    TwoLayers one, model;
    fully_shard(model.a), fully_shard(model.b), fully_shard(model);
    for (int step = 0; step < 4; ++step) {
      for (TwoLayers* const each : {&one, &model}) {
        each->a.requires_grad(step % 2 == 0);
        each->zero_grad();
        once(*each);
      }
    }
  });
}

TEST(OffRoad, RanksThatNameOtherFoldersAreTold) {
  const TemporaryFolder folders;
  run_ranks(2, [&](int rank) {
    TwoLayers model;
    for (const char* folder : {"a", "b"}) save_sharded(folders.path / folder, pieces_of(model));
    const auto own = folders.path / (rank == 0 ? "a" : "b");
    EXPECT_DIST_ERROR(save_sharded(own, pieces_of(model)), Errc::mismatch, "the folder ");
    model.a.bias()->value.fill_(rank);
    for (const char* folder : {"a", "b"}) {
      Pieces mine = pieces_of(model);
      for (Piece& piece : mine) piece.may_differ = true;
      save_sharded(folders.path / folder, mine);
      if (folder[0] == 'a') save_sharded(folders.path / folder, mine);
    }
    EXPECT_DIST_ERROR(load_sharded(own, pieces_of(model), {}), Errc::mismatch, "the save ");
  });
}

TEST(OffRoad, AFolderIsOneHoweverItIsSpelt) {
  const TemporaryFolder folders;
  run_ranks(2, [&](int) {
    TwoLayers model, loaded;
    ShardedSave first(folders.path / "x", pieces_of(model));
    for (nn::Parameter* const parameter : model.parameters()) parameter->value.fill_(2);
    ShardedSave second(folders.path / "." / "x/", pieces_of(model));
    second.finish();
    first.finish();
    load_sharded(folders.path / "x", pieces_of(loaded), {});
    EXPECT_EQ(loaded.a.weight().value.to_vector<double>()[0], 2);
  });
}

TEST(OffRoad, TargetsOfAnotherShapeAreRefused) {
  run_ranks(2, [](int) {
    VocabParallelCrossEntropy loss(init_device_mesh({2}, {"tp"}), 6);
    EXPECT_DIST_ERROR((void)loss.forward(zeros({2, 3, 3}, DType::f64), zeros({3, 2}, DType::i64)),
                      Errc::invalid_argument, "targets [2, 3] i64 are expected");
  });
}

// w1 and w3 of a gated MLP have one input, which is gathered once for both.
TEST(OffRoad, OneOfTwoLayersWithOneInputIsFrozen) {
  run_ranks(2, [](int) {
    for (const std::string trained : {"h.0.mlp.w1", "h.0.mlp.w3"}) {
      nn::GptOptions options = small_gpt();
      options.gated = true, options.width = 12;
      auto one = make_gpt(options), model = make_gpt(options);
      parallelize(*model, init_device_mesh({2}, {"tp"}), {.sequence_parallel = true});
      for (nn::GPT* const each : {one.get(), model.get()})
        for (const auto& [name, parameter] : each->named_parameters())
          parameter->requires_grad(name.find(trained) != name.npos);
      for (int step = 0; step < 2; ++step) {
        const Tensor tokens = full({2, 6}, step + 1, DType::i64);
        for (nn::GPT* const each : {one.get(), model.get()}) {
          each->zero_grad();
          const Tensor logits = each->forward(tokens);
          (void)each->backward(ones(logits.shape(), DType::f64));
        }
        finish_gradients(*model);
        const nn::StateDict all = full_gradients(*model);
        for (const auto& [name, parameter] : one->named_parameters()) {
          if (!parameter->requires_grad()) continue;
          const auto got = nn::find(all, name)->to_vector<double>(),
                     wanted = parameter->grad.to_vector<double>();
          for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], wanted[k], 1e-11) << name;
        }
      }
    }
  });
}

TEST(OffRoad, ARankOutsideOfTheGroupIsRefused) {
  run_ranks(3, [](int rank) {
    const ProcessGroup pair = new_group({0, 1});
    if (rank != 2) return;
    TwoLayers model;
    EXPECT_DIST_ERROR(DistributedDataParallel(model, {.group = pair}), Errc::invalid_argument, "");
    EXPECT_DIST_ERROR(GptPipeline(small_gpt(), {.group = pair}), Errc::invalid_argument,
                      "is not a member of");
  });
}

TEST(OffRoad, WhatAMergedLoraHasGatheredIsForgotten) {
  TwoLayers model;
  (void)nn::add_lora(model, {.rank = 2});
  once(model);
  nn::merge_lora(model);
  model.zero_grad();
  nn::unmerge_lora(model);
  for (const auto& [name, parameter] : model.named_parameters())
    if (name.find("lora") != name.npos) {
      for (const double x : parameter->grad.to_vector<double>()) EXPECT_EQ(x, 0) << name;
    }
}

}  // namespace
}  // namespace dist::test
