// Tensor and sequence parallelism: the numbers are those of one rank, and planted faults are seen.
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/ranks.h"
#include "unit/parallel/tensor_support.h"

namespace dist::test {
namespace {

std::string text_of(const TensorCase& c) {
  return fmt::format("dp={} tp={}{}{}{}{}", c.dp, c.tp, c.split.sequence_parallel ? " sequence" : "",
                     c.split.vocabulary_parallel ? " vocabulary" : "", c.model.tied ? " tied" : "",
                     c.model.gated ? " llama" : "");
}

std::vector<TensorCase> cases(int dp, int tp) {
  std::vector<TensorCase> all;
  for (const bool sequence : {false, true})
    for (const bool vocabulary : {false, true})
      for (const bool tied : {false, true})
        for (const bool llama : {false, true})
          all.push_back({dp, tp, {sequence, vocabulary}, small_model(tp, tied, llama)});
  // Virtual ranks try one case in four, a different one for each mesh: guarding each tensor's memory takes
  // time.
  std::vector<TensorCase> some;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % 4 == static_cast<std::size_t>(dp + tp) % 4) some.push_back(all[i]);
  return ranks_are_simulated() ? some : all;
}

struct MeshShape {
  int dp, tp;
};
void PrintTo(const MeshShape& mesh, std::ostream* out) { *out << "dp" << mesh.dp << "_tp" << mesh.tp; }

class TensorParallel : public testing::TestWithParam<MeshShape> {};

TEST_P(TensorParallel, OneStepIsThatOfOneRank) {
  const auto [dp, tp] = GetParam();
  for (const TensorCase& c : cases(dp, tp)) {
    const StepResult expected = one_rank_step(c);
    run_ranks(dp * tp, [&](int) { expect_equal(mesh_step(c), expected, text_of(c)); });
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, TensorParallel,
                         testing::Values(MeshShape{1, 1}, MeshShape{1, 2}, MeshShape{1, 3}, MeshShape{1, 4},
                                         MeshShape{2, 1}, MeshShape{2, 2}, MeshShape{2, 3}, MeshShape{4, 2},
                                         MeshShape{2, 4}),
                         testing::PrintToStringParamName());

TEST(TensorParallelModel, ARankMayHaveNoClass) {
  TensorCase c{1, 4, {true, true}, small_model(4, true, false)};
  c.model.vocab_size = 9;  // 3, 3, 3, 0
  const StepResult expected = one_rank_step(c);
  run_ranks(4, [&](int) { expect_equal(mesh_step(c), expected, "9 classes on 4 ranks"); });
}

TEST(TensorParallelModel, RecomputesItsBlocks) {
  for (const bool sequence : {false, true}) {
    const TensorCase c{1, 2, {sequence, true}, small_model(2, true, true)};
    const StepResult expected = one_rank_step(c);
    run_ranks(2, [&](int) {
      const auto recompute = [](nn::GPT& gpt) {
        for (nn::Block* const block : gpt.blocks()) nn::checkpoint(*block);
      };
      expect_equal(mesh_step(c, recompute), expected, text_of(c));
    });
  }
}

// As a pipeline does: two forwards in flight, and the parameters' gradients computed last.
TEST(TensorParallelModel, SeveralForwardsUnderWayAndDeferredGradients) {
  for (const bool sequence : {false, true}) {
    const nn::GptOptions options = small_model(2, true, true);
    const auto one = make_model(options);
    const std::vector<Tensor> tokens{numbers(2, 12, 11, 3), numbers(2, 8, 11, 7)};
    const auto grad_of = [](const Tensor& logits) { return nn::scattered(logits.shape(), 4); };
    for (const Tensor& t : tokens) one->backward(grad_of(one->forward(t)));
    run_ranks(2, [&](int) {
      const DeviceMesh mesh = init_device_mesh({2}, {"tp"});
      const auto gpt = make_model(options);
      parallelize(*gpt, mesh, {.sequence_parallel = sequence});
      gpt->set_forwards_kept(2);
      gpt->defer_parameter_grads();
      const Tensor first = gpt->forward(tokens[0]), second = gpt->forward(tokens[1]);
      gpt->backward(grad_of(first));
      gpt->backward(grad_of(second));
      for (int i = 0; i < 2; ++i) gpt->run_parameter_grads();
      finish_gradients(*gpt);
      EXPECT_LE(difference(full_gradients(*gpt), clones(one->named_parameters(), true)), 1e-12) << sequence;
    });
  }
}

TEST(TensorParallelModel, PlacementsAndTheWholeState) {
  run_ranks(2, [](int rank) {
    const DeviceMesh mesh = init_device_mesh({2}, {"tp"});
    nn::GptOptions options = small_model(2, true, false);
    options.layers = 1;
    const auto whole = make_model(options), gpt = make_model(options);
    parallelize(*gpt, mesh, {.sequence_parallel = true, .vocabulary_parallel = true});
    std::string text;
    for (const auto& [name, parameter] : gpt->named_parameters()) {
      const Placed* const placed = placed_of(*parameter);
      if (!placed) continue;
      const PlacedAxis& tp = placed->axes.at(0);
      text += fmt::format("{} {} {}", name, to_string(tp.placement), to_string(tp.grad_placement));
      for (const std::int64_t part : tp.parts) text += fmt::format(" {}", part);
      text += '\n';
    }
    EXPECT_EQ(text,
              "transformer.wte.weight Shard(0) Shard(0) 11\n"
              "transformer.wpe.weight Replicate() Partial(sum)\n"
              "transformer.h.0.ln_1.weight Replicate() Partial(sum)\n"
              "transformer.h.0.ln_1.bias Replicate() Partial(sum)\n"
              "transformer.h.0.attn.c_attn.weight Shard(0) Shard(0) 4 4 4\n"
              "transformer.h.0.attn.c_attn.bias Shard(0) Shard(0) 4 4 4\n"
              "transformer.h.0.attn.c_proj.weight Shard(1) Shard(1) 4\n"
              "transformer.h.0.ln_2.weight Replicate() Partial(sum)\n"
              "transformer.h.0.ln_2.bias Replicate() Partial(sum)\n"
              "transformer.h.0.mlp.c_fc.weight Shard(0) Shard(0) 16\n"
              "transformer.h.0.mlp.c_fc.bias Shard(0) Shard(0) 16\n"
              "transformer.h.0.mlp.c_proj.weight Shard(1) Shard(1) 16\n"
              "transformer.ln_f.weight Replicate() Partial(sum)\n"
              "transformer.ln_f.bias Replicate() Partial(sum)\n");
    EXPECT_EQ(gpt->parameters().front()->value.shape(), (Shape{rank == 0 ? 6 : 5, 4}));
    const nn::StateDict state = full_state_dict(*gpt), expected = whole->state_dict();
    ASSERT_EQ(state.size(), expected.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
      EXPECT_EQ(state[i].name, expected[i].name);
      EXPECT_TRUE(equal(state[i].tensor, expected[i].tensor)) << state[i].name;
    }
  });
}

TEST(TensorParallelModel, RefusesWhatItCannotDivide) {
  run_ranks(2, [](int) {
    const DeviceMesh mesh = init_device_mesh({2, 1}, {"tp", "dp"});
    const auto refuses = [&](const std::vector<std::string>& parts, const auto& call) {
      expect_error(Errc::invalid_argument, parts, call);
    };
    nn::GptOptions options = small_model(3, true, false);
    refuses({"tensor_test.cpp:",
             "transformer.h.0.attn.c_attn: 3 heads cannot be divided among the 2 ranks of tp"},
            [&] { parallelize(*make_model(options), mesh["tp"]); });
    options = small_model(2, true, true);
    options.kv_heads = 1;
    refuses({"1 head of keys and values cannot", "use a divisor of 1 as"},
            [&] { parallelize(*make_model(options), mesh["tp"]); });
    options = small_model(2, true, false);
    const auto gpt = make_model(options);
    refuses({"a mesh of one axis is expected, not (tp=2, dp=1)"}, [&] { parallelize(*gpt, mesh); });
    refuses({"no module is named \"transformer.h.*.attn.q\""}, [&] {
      parallelize_module(*gpt, mesh["tp"], {{"transformer.h.*.attn.q", ColwiseParallel{}}});
    });
    refuses({"transformer.ln_f: ColwiseParallel divides a Linear, not LayerNorm(4)"}, [&] {
      parallelize_module(*gpt, mesh["tp"], {{"transformer.ln_f", ColwiseParallel{}}});
    });
    refuses({"a layout of Shard(0); it can be Replicate() or Shard(1)"}, [&] {
      parallelize_module(*gpt, mesh["tp"], {{"lm_head", ColwiseParallel{.input_layout = Shard(0)}}});
    });
    refuses({"finish_gradients at", "call parallelize_module() for it first"},
            [&] { finish_gradients(*make_model(options)); });
    const auto sequence = make_model(options);
    parallelize(*sequence, mesh["tp"], {.sequence_parallel = true});
    refuses({"7 tokens cannot be divided among the 2 ranks of tp"}, [&] {
      sequence->forward(zeros({1, 7}, DType::i64));
    });
    refuses({"transformer.h.0.attn.c_attn: a plan has named it before"},
            [&] { parallelize(*sequence, mesh["tp"], {.sequence_parallel = true}); });
    VocabParallelCrossEntropy loss(mesh["tp"], 11);
    refuses({"target 11 of row 1 is not a class; there are 11"}, [&] {
      const Tensor logits = zeros({2, mesh.get_local_rank("tp") == 0 ? 6 : 5});
      static_cast<void>(loss.forward(logits, tensor<std::int64_t>({3, 11})));
    });
  });
}

// The loss alone: rows that do not count, logits so large that their exponentials overflow.
TEST(TensorParallelModel, TheDividedLossIsThatOfOneRank) {
  for (const DType dtype : {DType::f32, DType::f64})
    run_ranks(3, [dtype](int rank) {
      const DeviceMesh mesh = init_device_mesh({3}, {"tp"});
      const Tensor logits = (nn::scattered({2, 3, 7}, 1) * 2000.0).to(dtype);
      const Tensor targets = tensor<std::int64_t>({0, 6, -100, 3, 4, 2}).view({2, 3});
      nn::CrossEntropyLoss one;
      VocabParallelCrossEntropy divided(mesh, 7);
      const double expected = one.forward(logits, targets);
      const std::int64_t first = 3 * rank, own = rank == 2 ? 1 : 3;
      EXPECT_NEAR(divided.forward(narrow(logits, 2, first, own), targets) / expected, 1, 1e-6);
      const Tensor grad = narrow(one.backward(), 2, first, own);
      EXPECT_LE(difference(divided.backward().to(DType::f64), grad.to(DType::f64)), 1e-6);
    });
}

// A test of the tests: faults that leave some of the numbers right, and what the checker says of them where
// ranks are virtual (tensor_findings_test.cpp).
TEST(TensorParallelFaults, AMissingSumBackwardLeavesTheForwardRight) {
  const TensorCase c{1, 2, {}, small_model(2, true, false)};
  const StepResult expected = one_rank_step(c);
  const auto step = [&](int) {
    const StepResult result =
        mesh_step(c, [](nn::GPT& gpt) { LosesTheSum::plant(gpt.blocks().back()->attn()); });
    EXPECT_LE(difference(result.logits, expected.logits), 1e-12);
    EXPECT_GE(difference(result.gradients, expected.gradients), 1e-3);
  };
  run_ranks(2, step, finds({check::Code::partial_sum}));
}

TEST(TensorParallelFaults, ABiasAddedByEveryRankChangesTheForward) {
  const TensorCase c{1, 2, {}, small_model(2, true, false)};
  const StepResult expected = one_rank_step(c);
  const auto step = [&](int) {
    const StepResult result =
        mesh_step(c, [](nn::GPT& gpt) { gpt.blocks()[0]->attn().c_proj().set_adds_bias(true); });
    EXPECT_GE(difference(result.logits, expected.logits), 1e-3);
  };
  run_ranks(2, step, finds({check::Code::partial_sum}));
}

}  // namespace
}  // namespace dist::test
