// What once went wrong without a word, or waited for other ranks: now one error says what to do.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/checkpoint.h"
#include "dist/nn/lora.h"
#include "dist/nn/nn.h"
#include "dist/parallel/checkpoint/sharded_checkpoint.h"
#include "dist/parallel/data_parallel.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/full_state.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/parameter_server.h"
#include "dist/parallel/pipeline/pipeline.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"
#include "dist/parallel/tensor/parallelize.h"

#include "support/expect_error.h"
#include "support/ranks.h"
#include "support/temporary_folder.h"
#include "unit/parallel/hybrid_support.h"
#include "unit/parallel/two_layers.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

RankOptions soon() {
  RankOptions options;
  options.init.timeout = 20s;
  return options;
}

std::unique_ptr<nn::Optimizer> sgd(std::vector<nn::Parameter*> parameters) {
  return std::make_unique<nn::SGD>(std::move(parameters), nn::SGDOptions{.lr = 0.1});
}

// Wraps the model; what it returns takes a step.
using Make = std::function<std::function<void()>(TwoLayers&)>;

std::function<void()> ddp_step(TwoLayers& model) {
  return [ddp = std::make_shared<DistributedDataParallel>(model)] { once(*ddp); };
}
std::function<void()> sharded_step(TwoLayers& model) {
  fully_shard(model);
  return [&model] { once(model); };
}
std::function<void()> zero_step(TwoLayers& model) {
  auto zero = std::make_shared<ZeroOptimizer>(model, sgd);
  return [zero, &model] {
    zero->zero_grad();
    once(model);
    zero->step();
  };
}
std::function<void()> server_step(TwoLayers& model) {
  const std::shared_ptr<nn::Optimizer> optimizer = sgd(model.parameters());
  auto server = std::make_shared<ParameterServer>(model, *optimizer);
  return [server, optimizer, &model] {
    once(model);
    server->step();
  };
}
std::function<void()> tensor_step(TwoLayers& model) {
  parallelize_module(model, init_device_mesh({2}, {"tp"}),
                     {{"a", ColwiseParallel()}, {"b", RowwiseParallel()}});
  return [&model] { once(model); };
}

// One rank freezes a layer, and the other does not: their collectives no longer match, and the group has
// ended. Or another one: both get an error as often as they try, and go on when they agree.
TEST(Told, WhoFreezesAlone) {
  for (const Make& make :
       {Make(ddp_step), Make(sharded_step), Make(zero_step), Make(server_step), Make(tensor_step)})
    for (const bool other_freezes : {false, true})
      run_ranks(
          2,
          [&](int rank) {
            TwoLayers model;
            const auto step = make(model);
            step();
            for (int times = 0; times < (other_freezes ? 2 : 1); ++times) {
              if (rank == 0) model.a.requires_grad(false);
              if (rank == 1 && other_freezes) model.b.requires_grad(false);
              try {
                step();
                ADD_FAILURE() << "nothing was said on rank " << rank;
              } catch (
                  const Error& error) {  // of the first collective that meets another, or of one after it
                EXPECT_TRUE(error.code() == Errc::mismatch || error.code() == Errc::aborted) << error.what();
                const std::string text = error.what();
                EXPECT_TRUE(text.find("freeze") != text.npos || text.find("frozen") != text.npos) << text;
              }
            }
            if (!other_freezes) return;
            model.requires_grad(true);
            model.zero_grad();
            EXPECT_NO_THROW(step());
          },
          soon());
}

// On any mesh all ranks get an error, before anything moves, and go on.
TEST(Told, WhoFreezesAloneOnAMesh) {
  nn::GptOptions options = small_gpt();
  options.tied = true, options.context = 8;
  for (const char* text : {"dp=2,tp=2", "dp=2,cp=2", "fsdp=2", "tp=2", "pp=2", "dp=2,pp=2"})
    for (const char* name : {"transformer.wte.weight", "lm_head.weight", "ln_1"}) {
      SCOPED_TRACE(fmt::format("{} {}", text, name));
      const HybridShape shape = parse_hybrid_shape(text);
      run_ranks(
          shape.ranks(),
          [&](int rank) {
            nn::manual_seed(17);
            HybridGpt gpt(options, {.shape = shape}, DType::f64);
            int has = 0;
            for (const auto& stage : gpt.stages())
              for (const auto& [known, parameter] : stage->named_parameters())
                if (known.find(name) != known.npos) ++has;
            const auto ranks = all_gather_object(std::to_string(has));
            const auto first = std::ranges::find_if(ranks, [](const std::string& n) { return n != "0"; });
            if (first == ranks.end()) return;  // the head is the table itself
            const double loss = gradients(gpt, 0, 4, 8);
            const auto set = [&](bool trains) {
              for (const auto& stage : gpt.stages())
                for (const auto& [known, parameter] : stage->named_parameters())
                  if (known.find(name) != known.npos) parameter->requires_grad(trains);
            };
            if (rank == first - ranks.begin()) set(false);
            const bool is_alone = std::string(text) == "pp=2" && std::string(name) == "ln_1";
            if (!is_alone)  // of two stages each has its own
              EXPECT_DIST_ERROR((void)gradients(gpt, 0, 4, 8), Errc::mismatch, "it is frozen");
            set(true);
            EXPECT_EQ(gradients(gpt, 0, 4, 8), loss);
          },
          soon());
    }
}

// A hand-written pipeline: a layer, and a stage of another kind.
template <class Stage>
Pipeline pipeline_of(nn::Module& first, Stage& second, int micro_batches) {
  nn::Module* const mine = get_rank() == 0 ? &first : static_cast<nn::Module*>(&second);
  return {{mine},
          pipeline::make_schedule(pipeline::Kind::gpipe, {2, micro_batches, 1}),
          {.loss = {.of =
                        [](const Tensor& out, const Tensor&) {
                          return PartialLoss{1, ones(out.shape(), out.dtype())};
                        },
                    .count = [](const Tensor& targets) { return targets.size(0); }}}};
}

struct UsesItTwice final : nn::Module {
  nn::Linear layer{4, 4};
  UsesItTwice() { register_module("layer", layer); }
  Tensor run_forward(const Tensor& input) override { return layer.forward(layer.forward(input)); }
  Tensor run_backward(const Tensor& grad) override { return layer.backward(layer.backward(grad)); }
};

TEST(Told, ThatAStageUsesALayerTwice) {
  run_ranks(2, [](int rank) {
    nn::Linear first(4, 4);
    UsesItTwice second;
    Pipeline pipeline = pipeline_of(first, second, 2);
    const auto step = [&] { (void)pipeline.step(ones({4, 4}), zeros({4}, DType::i64)); };
    if (rank == 1)
      EXPECT_DIST_ERROR(step(), Errc::unsupported, "a stage can use a layer once per forward()");
    else
      EXPECT_DIST_ERROR(step(), Errc::aborted, "make two layers");
  });
}

// A rank without parameters has no part in the norm, and no rank waits for it.
TEST(Told, NormsOfAPipelineWithAStageWithoutParameters) {
  run_ranks(
      2,
      [](int rank) {
        nn::manual_seed(3);
        nn::Linear first(4, 4);
        nn::ReLU second;
        Pipeline pipeline = pipeline_of(first, second, 2);
        (void)pipeline.step(ones({4, 4}), zeros({4}, DType::i64));
        const auto mine = rank == 0 ? first.named_parameters() : std::vector<nn::NamedParameter>();
        double squares = 0;
        for (const auto& [name, parameter] : mine)
          for (const float x : parameter->grad.to_vector<float>()) squares += double{x} * x;
        EXPECT_NEAR(nn::clip_grad_norm(mine, 1e9).item(), std::sqrt(squares), 1e-6 * squares);
      },
      soon());
}

TEST(Told, ThatTwoParametersHaveOneName) {
  const TemporaryFolder folder;
  run_ranks(2, [&](int rank) {
    nn::manual_seed(static_cast<std::uint64_t>(rank));
    nn::Linear stage(4, 4);
    EXPECT_DIST_ERROR(save_sharded(folder.path, pieces_of(stage)), Errc::mismatch,
                      "give different parameters different names");
  });
}

TEST(Told, ThatARecomputationIsInAnotherMode) {
  TwoLayers model;
  nn::checkpoint(model.a);
  const Tensor input = full({2, 4}, 0.5, DType::f64);
  const Tensor output = model.forward(input);
  model.eval();
  EXPECT_DIST_ERROR(
      (void)model.backward(output), Errc::invalid_argument,
      "its forward() was in training, and its backward(), which computes it again, is in evaluation");
  model.train();
  model.zero_grad();
  EXPECT_NO_THROW(once(model));
}

TEST(Told, ThatAUnitsForwardIsNotCalled) {
  run_ranks(2, [](int) {
    struct Outer final : nn::Module {
      TwoLayers inner;
      Outer() { register_module("inner", inner); }
      Tensor run_forward(const Tensor& input) override { return inner.a.forward(input); }
      Tensor run_backward(const Tensor& grad) override { return inner.a.backward(grad); }
    } model;
    fully_shard(model.inner);
    EXPECT_DIST_ERROR((void)model.forward(ones({2, 4}, DType::f64)), Errc::invalid_argument,
                      "was not called, which gathers the parameters");
    unshard(model);
    EXPECT_NO_THROW((void)model.forward(ones({2, 4}, DType::f64)));
    reshard(model);
  });
}

// Mixed precision is the unit's, with parameters of its own or none.
TEST(Told, AUnitWithoutParametersComputesInItsDtype) {
  run_ranks(2, [](int) {
    struct Sees final : nn::Module {
      DType seen = DType::f64;
      Tensor run_forward(const Tensor& input) override { return seen = input.dtype(), input; }
      Tensor run_backward(const Tensor& grad) override { return grad; }
    } model;
    fully_shard(model, {.mixed_precision = {.param_dtype = DType::bf16}});
    (void)model.forward(ones({2, 4}));
    EXPECT_EQ(model.seen, DType::bf16);
  });
}

TEST(Told, ThatAFileWouldHaveAPartOnly) {
  const TemporaryFolder folder;
  run_ranks(2, [&](int rank) {
    TwoLayers model;
    fully_shard(model);
    const auto file = folder.path / fmt::format("{}.safetensors", rank);
    EXPECT_DIST_ERROR(nn::save_safetensors(file, nn::with_prefix("model.", model.state_dict())),
                      Errc::invalid_argument,
                      "this rank has a part of \"a.weight\": save what full_state_dict() returns");
    nn::save_safetensors(file, full_state_dict(model));
    TwoLayers loaded;
    loaded.load_state_dict(nn::load_safetensors(file));
  });
}

TEST(Told, ThatAModelOfDataParallelHasGrown) {
  DataParallel parallel([] { return std::make_unique<TwoLayers>(); }, 2);
  (void)nn::add_lora(parallel.module(), {.rank = 2});
  EXPECT_DIST_ERROR((void)parallel.forward(full({2, 4}, 0.5, DType::f64)), Errc::invalid_argument,
                    "change the model in the factory");
}

// Frozen for one step, then trained again: it is clipped with the others.
TEST(Told, ZeroClipsWhatIsTrainedAgain) {
  TwoLayers alone;
  const auto one = sgd(alone.parameters());
  const auto freezes = [](TwoLayers& model, bool on) { model.a.requires_grad(!on); };
  std::vector<double> norms;
  for (const bool frozen : {true, false}) {
    alone.zero_grad();
    once(alone);
    freezes(alone, frozen);
    norms.push_back(nn::clip_grad_norm(alone.named_parameters(), 0.1));
    one->step();
    freezes(alone, false);
  }
  run_ranks(2, [&](int) {
    TwoLayers model;
    ZeroOptimizer zero(model, sgd);
    for (const bool frozen : {true, false}) {
      zero.zero_grad();
      once(model);
      freezes(model, frozen);
      EXPECT_NEAR(zero.clip_grad_norm(0.1), norms[frozen ? 0 : 1], 1e-12);
      zero.step();
      freezes(model, false);
    }
    EXPECT_EQ(model.a.weight().value.to_vector<double>().size(), 16U);
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_NEAR(model.a.weight().value.to_vector<double>()[i],
                  alone.a.weight().value.to_vector<double>()[i], 1e-12);
  });
}

// Buckets of one size: only the lines, which DIST_DEBUG=detail compares, tell them apart.
TEST(Told, WhichOfTwoModelsGoesFirst) {
  const ScopedEnv detail("DIST_DEBUG", "detail");
  run_ranks(2, [](int rank) {
    TwoLayers first, second;
    DistributedDataParallel one(first);
    DistributedDataParallel two(second);
    const Tensor input = full({2, 4}, 0.5, DType::f64);
    const Tensor a = one.forward(input), b = two.forward(input);
    try {
      for (const bool is_one : {rank == 0, rank != 0}) (void)(is_one ? one.backward(a) : two.backward(b));
      ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("told_test.cpp"), std::string::npos) << error.what();
    }
  });
}

TEST(Told, TheLineThatMadeItIsTheUsers) {
  run_ranks(2, [](int rank) {
    const nn::Linear plain(4, 4);
    TwoLayers model;
    if (rank == 1) model.to(DType::f32);
    try {
      (void)std::make_unique<DistributedDataParallel>(model);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("unique_ptr.h"), std::string::npos) << error.what();
    }
  });
}

}  // namespace
}  // namespace dist::test
