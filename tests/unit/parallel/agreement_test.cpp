// Ranks that disagree: what collective constructors compare always (check_same.h), what is compared by the
// checker and with DIST_DEBUG=detail (D13, and the layers of D2), and lines of users that make_unique()
// hides.
#include <gtest/gtest.h>

#include "dist/core/axes.h"
#include "dist/group/check_same.h"
#include "dist/mesh/dtensor.h"
#include "dist/parallel/context/ring_attention.h"
#include "dist/parallel/hybrid/hybrid_gpt.h"
#include "dist/parallel/replicas.h"
#include "dist/parallel/shard/fully_shard.h"
#include "dist/parallel/shard/zero_optimizer.h"
#include "dist/parallel/tensor/parallelize.h"
#include "dist/parallel/tensor/placements.h"
#include "dist/parallel/tensor/vocab_cross_entropy.h"
#include "dist/simulate/simulate.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

const nn::GptOptions small{.vocab_size = 13, .context = 8, .layers = 2, .heads = 2, .width = 8};

ZeroOptimizer::Factory sgd() {
  return [](auto parameters) { return std::make_unique<nn::SGD>(parameters); };
}

struct Disagreement {
  std::string name;
  std::function<void(bool other)> call;  // on rank 1, `other` is true
  std::vector<std::string> said;
};

const std::vector<Disagreement> disagreements{
    {"fully_shard, shape",
     [](bool other) {
       nn::Linear l(4, other ? 5 : 4);
       fully_shard(l);
     },
     {"fully_shard at agreement_test.cpp:", "rank 1 has parameter \"weight\", f32 5x4 where rank 0 has",
      "\"weight\", f32 4x4: every rank must pass the same"}},
    {"fully_shard, a frozen parameter",
     [](bool other) {
       nn::Linear l(4, 4);
       l.bias()->requires_grad(!other);
       fully_shard(l);
     },
     {"rank 1 has parameter \"bias\", f32 4, frozen where rank 0 has parameter \"bias\", f32 4: "}},
    {"fully_shard, option",
     [](bool other) {
       nn::Linear l(4, 4);
       fully_shard(l, {.reshard_after_forward = other});
     },
     {"rank 1 has reshard_after_forward true where rank 0 has reshard_after_forward false"}},
    {"fully_shard, one more parameter",
     [](bool other) {
       nn::Linear l(4, 4, {.bias = !other});
       fully_shard(l);
     },
     {"rank 1 has reshard_after_forward left out where rank 0 has parameter \"bias\""}},
    {"parallelize_module, plan",
     [](bool other) {
       nn::Sequential model;
       model.add<nn::Linear>(4, 4), model.add<nn::Linear>(4, 4);
       const DeviceMesh mesh = init_device_mesh({get_world_size()}, {"tp"});
       parallelize_module(model, mesh, {{other ? "1" : "0", ColwiseParallel{}}});
     },
     {"parallelize_module at", "rank 1 has the entry \"1\", ColwiseParallel{Replicate()", "\"0\""}},
    {"ZeroOptimizer",
     [](bool other) {
       nn::Linear l(4, 4);
       ZeroOptimizer zero(l, sgd(), {.bucket_bytes = other ? 64U : 32U});
     },
     {"ZeroOptimizer at", "rank 1 has bucket_bytes 64 where rank 0 has bucket_bytes 32"}},
    {"HybridGpt, options",
     [](bool other) {
       const int n = get_world_size();
       HybridGpt gpt(small, {.shape = {.dp = n}, .micro_batches = other ? 2 : 1});
     },
     {"HybridGpt at", "rank 1 has micro_batches 2 where rank 0 has micro_batches 1"}},
    {"HybridGpt, dtype",
     [](bool other) {
       HybridGpt gpt(small, {.shape = {.dp = get_world_size()}}, other ? DType::f64 : DType::f32);
     },
     {"rank 1 has dtype f64 where rank 0 has dtype f32"}},
    {"GptPipeline, model",
     [](bool other) {
       nn::GptOptions options = small;
       options.layers = 3, options.tied = other;
       GptPipeline pipeline(options);
     },
     {"GptPipeline at", "rank 1 has tied true where rank 0 has tied false"}},
    {"Pipeline, schedule",
     [](bool other) {
       nn::Linear l(4, 4);
       const pipeline::Shape shape{get_world_size(), 4, 1};
       Pipeline pipeline({&l}, other ? make_schedule(pipeline::Kind::gpipe, shape)
                                     : make_schedule(pipeline::Kind::one_f_one_b, shape));
     },
     {"Pipeline at", "rank 1 has", "as action"}},
    {"ContextParallel",
     [](bool other) {
       nn::GPT gpt(small);
       ContextParallel context(gpt, {.balanced = other});
     },
     {"ContextParallel at", "rank 1 has balanced true where rank 0 has balanced false"}},
    {"DeviceMesh, names",
     [](bool other) {
       const int n = get_world_size();
       init_device_mesh({1, n},
                        other ? std::vector<std::string>{"tp", "dp"} : std::vector<std::string>{"dp", "tp"});
     },
     {"DeviceMesh at", "rank 1 has the names tp, dp where rank 0 has the names dp, tp"}},
    {"flatten",
     [](bool other) {
       const DeviceMesh mesh = init_device_mesh({1, get_world_size()}, {"dp", "tp"});
       static_cast<void>(other ? mesh.flatten({"tp"}, "all") : mesh.flatten({"dp", "tp"}, "all"));
     },
     {"flatten at", "rank 1 has tp of all where rank 0 has dp, tp of all"}},
    {"from_local, placements",
     [](bool other) {
       const DeviceMesh mesh = init_device_mesh({get_world_size()}, {"x"});
       DTensor::from_local(ones({2, 2}), mesh, {Shard(other ? 1 : 0)});
     },
     {"from_local at", "rank 1 has the whole shape [2, "}},
    {"from_local, local shapes",
     [](bool other) {
       const DeviceMesh mesh = init_device_mesh({get_world_size()}, {"x"});
       DTensor::from_local(ones(other ? Shape{3, 2} : Shape{2, 3}), mesh, {Shard(0)});
     },
     {"from_local at", ", 2] where rank 0 has the whole shape ["}},
    {"from_local, dtypes",
     [](bool other) {
       const DeviceMesh mesh = init_device_mesh({get_world_size()}, {"x"});
       DTensor::from_local(ones({2}, other ? DType::i32 : DType::f32), mesh, {Replicate()});
     },
     {"rank 1 has i32 where rank 0 has f32"}},
    {"distribute_tensor, source",
     [](bool other) {
       const DeviceMesh mesh = init_device_mesh({get_world_size()}, {"x"});
       distribute_tensor(ones({4}), mesh, {Shard(0)}, other ? 1 : 0);
     },
     {"distribute_tensor at", "rank 1 has from rank 1 of each axis where rank 0 has from rank 0"}},
};

TEST(Agreement, EveryRankIsToldWhatTheFirstOtherRankHas) {
  for (const Disagreement& of : disagreements)
    for (const int n : {2, 3}) {
      SCOPED_TRACE(of.name);
      std::vector<std::string> texts(static_cast<std::size_t>(n));
      run_ranks(n, [&](int rank) {
        texts[static_cast<std::size_t>(rank)] =
            expect_error(Errc::mismatch, of.said, [&] { of.call(rank == 1); });
      });
      EXPECT_EQ(texts, std::vector(texts.size(), texts[0]));
    }
}

// Along the second axis, ranks 0 to 2 agree; all four say the same.
TEST(Agreement, OnAGridEveryRankLearnsOfEachOther) {
  run_ranks(4, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2, 2}, {"dp", "tp"});
    const auto lines = mesh.get_all_groups();
    const CallSite here = CallSite::current();
    for (int odd = 0; odd < 4; ++odd)
      expect_error(Errc::mismatch, {fmt::format("rank {} has b where rank {} has a", odd == 0 ? 1 : odd, 0)},
                   [&] { check_same("it", (rank == odd) == (odd != 0) ? "x\nb" : "x\na", lines, here); });
    expect_error(Errc::mismatch, {"rank 2 has nothing more where rank 0 has c"},
                 [&] { check_same("it", rank < 2 ? "a\nb\nc" : "a\nb\n", lines, here); });
    EXPECT_NO_THROW(check_same("it", rank < 2 ? "a\nb\n" : "a\nb", lines, here));
  });
}

TEST(Agreement, TwoCallsThatMeetAreNamed) {
  run_ranks(
      2,
      [](int rank) {
        expect_error(Errc::mismatch, {"rank 0 calls fully_shard at", "rank 1 calls ZeroOptimizer at"}, [&] {
          nn::Linear l(4, 4);
          if (rank == 0) fully_shard(l);
          ZeroOptimizer zero(l, sgd());
        });
      },
      finds({check::Code::mismatched_collective}));
}

// What the checker says, and what ranks that are threads say with DIST_DEBUG=detail.
void expect_told(int ranks, check::Code code, const std::vector<std::string>& words,
                 const std::function<void(int rank)>& fn) {
  sim::RunOptions options;
  options.ranks = ranks, options.stack_bytes = 256 << 10;
  const sim::Report report = sim::run(options, [&](int rank) {
    init_process_group();
    fn(rank);
    destroy_process_group();
  });
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  EXPECT_EQ(report.findings[0].code, code);
  const std::string text = report.findings[0].text();
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), text.npos) << word << " is not in\n" << text;
  if (ranks_are_simulated()) return;
  const ScopedEnv detail("DIST_DEBUG", "detail");
  expect_error(Errc::mismatch, words, [&] { run_ranks(ranks, fn); });
}

void seed_by_rank(int rank) { nn::manual_seed(static_cast<std::uint64_t>(100 + rank)); }

TEST(Agreement, OtherInitialWeightsAreD13) {
  const auto expect = [](const std::string& what, int ranks, const std::function<void()>& make) {
    expect_told(ranks, check::Code::different_replicas,
                {what, "rank 0: norm ", "rank 1: norm ", "agreement_test.cpp:",
                 "fix: the ranks began with different weights: call nn::manual_seed() with the same seed"},
                [&](int rank) {
                  seed_by_rank(rank);
                  make();
                });
  };
  expect("differs between the ranks of the default group", 2, [] {
    nn::GPT gpt(small);
    fully_shard(gpt);
  });
  expect("the initial value of weight differs between the ranks of tp", 3, [] {
    nn::LayerNorm norm(4);
    nn::Linear linear(4, 6, {.bias = false});
    parallelize_module(linear, init_device_mesh({3}, {"tp"}), {{"", ColwiseParallel{}}});
  });
  expect("the initial value of bias (and of 1 before it)", 2, [] {
    nn::Linear linear(4, 4);
    ZeroOptimizer zero(linear, sgd());
  });
  for (const char* shape : {"dp=2", "fsdp=2", "cp=2", "tp=2", "pp=2"})
    expect("differs between the ranks of", 2,
           [&] { HybridGpt gpt(small, {.shape = parse_hybrid_shape(shape)}); });
}

// The smallest difference counts; equal values, NaN among them, do not differ.
TEST(Agreement, InitialWeightsAreComparedExactly) {
  const auto shard = [](double change) {
    return [change](int rank) {
      nn::Linear linear(8, 8);
      linear.weight().value.data<float>()[5] += static_cast<float>(rank * change);
      linear.bias()->value.fill_(std::nan(""));
      fully_shard(linear);
    };
  };
  expect_told(2, check::Code::different_replicas, {"the initial value of weight differs"}, shard(1e-4));
  const ScopedEnv detail("DIST_DEBUG", "detail");
  run_ranks(2, shard(0));
}

TEST(Agreement, OtherRowsWithinADataRankAreD13) {
  for (const char* shape : {"tp=2", "pp=2", "cp=2"})
    expect_told(2, check::Code::different_replicas,
                {"the batch of tokens differs between the ranks of ",
                 "fix: give all ranks of one data rank the same rows: those of HybridGpt::data_rank()"},
                [&](int rank) {
                  HybridGpt gpt(small, {.shape = parse_hybrid_shape(shape)});
                  gpt.step(full({2, 8}, rank, DType::i64), ones({2, 8}, DType::i64));
                });
}

TEST(Agreement, OtherValuesToDistributeAreD13) {
  expect_told(2, check::Code::different_replicas,
              {"the tensor differs between the ranks of x", ".src_data_rank"}, [](int rank) {
                const DeviceMesh mesh = init_device_mesh({2}, {"x"});
                distribute_tensor(full({4}, rank), mesh, {Shard(0)}, {});
              });
}

TEST(Agreement, OtherTargetsOfARedistributionAreTold) {
  const ScopedEnv detail("DIST_DEBUG", "detail");
  run_ranks(2, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2}, {"x"});
    const DTensor whole = DTensor::from_local(ones({2, 2}), mesh, {Replicate()});
    const DTensor part = whole.redistribute({Shard(rank)});  // nothing is sent, so nothing is compared
    expect_error(Errc::mismatch,
                 {"redistribute at", "rank 1 has x=2: Shard(1) where rank 0 has x=2: Shard(0)"},
                 [&] { part.full_tensor(); });
  });
}

// A branch by rank, between layers of one size.
class Branch final : public nn::Module {
 public:
  Branch() { register_module("a", a), register_module("b", b); }
  nn::Linear a{4, 4}, b{4, 4};
  bool second = false;

 private:
  Tensor run_forward(const Tensor& input) override { return (second ? b : a).forward(input); }
  Tensor run_backward(const Tensor& grad) override { return (second ? b : a).backward(grad); }
};

TEST(Agreement, AnotherLayerOnOneRankIsD2) {
  expect_told(2, check::Code::mismatched_collective, {"of a", "of b", "agreement_test.cpp:"}, [](int rank) {
    Branch model;
    parallelize_module(model, init_device_mesh({2}, {"tp"}),
                       {{"a", RowwiseParallel{}}, {"b", RowwiseParallel{}}});
    model.second = rank == 1;
    model.forward(ones({3, 2}));
  });
}

// nn::CrossEntropyLoss would take one rank's classes for all of them.
TEST(Agreement, LogitsOfOneRanksClassesAreRefusedUntilTheyAreGathered) {
  run_ranks(2, [](int) {
    nn::manual_seed(3);
    nn::GPT alone(small);
    nn::manual_seed(3);
    nn::GPT gpt(small);
    const DeviceMesh mesh = init_device_mesh({2}, {"tp"});
    parallelize(gpt, mesh, {.vocabulary_parallel = true});
    const Tensor tokens = ones({2, 8}, DType::i64), targets = full({2, 8}, 3, DType::i64);
    nn::CrossEntropyLoss loss;
    const Tensor logits = gpt.forward(tokens);
    for (const Tensor& same : {logits, logits.clone(), logits.to(DType::f64), logits.view({16, -1})})
      expect_error(Errc::invalid_argument, {"CrossEntropyLoss: ", "use VocabParallelCrossEntropy, or gather"},
                   [&] { loss.forward(same, same.dim() == 2 ? targets.view({16}) : targets); });
    const double right = loss.forward(alone.forward(tokens), targets);
    const DTensor parts = DTensor::from_local(logits, mesh, {Shard(2)}, Shape{2, 8, 13});
    EXPECT_NEAR(loss.forward(parts.full_tensor(), targets), right, 1e-6);
    VocabParallelCrossEntropy divided(mesh, 13);
    EXPECT_NEAR(divided.forward(logits, targets), right, 1e-6);
  });
}

TEST(Agreement, AnObjectOfMakeUniqueNamesALineOfTheUsers) {
  run_ranks(2, [](int rank) {
    barrier();
    nn::Linear linear(4, rank == 0 ? 4 : 5);
    const auto text =
        expect_error(Errc::mismatch, {"ZeroOptimizer at a line after agreement_test.cpp:"},
                     [&] { static_cast<void>(std::make_unique<ZeroOptimizer>(linear, sgd())); });
    EXPECT_EQ(text.find("unique_ptr"), text.npos) << text;
  });
}

}  // namespace
}  // namespace dist::test
