// simulate_step(): a GPT on a mesh of many virtual ranks, whose layers take as long as their operations.
#include <gtest/gtest.h>

#include "dist/core/sanitizer.h"
#include "dist/nn/gpt_flops.h"
#include "dist/nn/lora.h"
#include "dist/parallel/context/ring_attention.h"
#include "dist/parallel/pipeline/costs.h"
#include "dist/simulate/simulate.h"

#include "gpt_support.h"
#include "mesh/flop_clock.h"
#include "mesh/simulated_step.h"
#include "support/expect_error.h"

namespace dist::test {
namespace {

nn::GptOptions a_gpt() {
  nn::GptOptions gpt;
  gpt.vocab_size = 11, gpt.context = 16, gpt.layers = 8, gpt.heads = 8, gpt.width = 32, gpt.tied = false;
  return gpt;
}

struct Case {
  const char* name;
  HybridOptions options;
  bool tied = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SimulatedStepOf : public testing::TestWithParam<Case> {};

TEST_P(SimulatedStepOf, TakesWithoutValuesWhatItTakesWithThem) {
  const Case& c = GetParam();
  nn::GptOptions gpt = a_gpt();
  gpt.tied = c.tied;
  SimulatedStepOptions simulated{.rows = 4, .flops = 1e9};
  const SimulatedStep without = simulate_step(gpt, c.options, simulated);
  simulated.values = true;
  const SimulatedStep with = simulate_step(gpt, c.options, simulated);
  EXPECT_GT(without.step_s, 0);
  EXPECT_EQ(without.step_s, with.step_s);
  EXPECT_EQ(without.compute_s, with.compute_s);
  EXPECT_EQ(without.bubble_s, with.bubble_s);
  EXPECT_EQ(without.exposed_s, with.exposed_s);
  EXPECT_EQ(without.peak_bytes, with.peak_bytes);
  EXPECT_EQ(without.messages, with.messages);
  EXPECT_EQ(without.bytes, with.bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, SimulatedStepOf,
    testing::Values(
        Case{"one_rank", {}},
        Case{"dp_tp_pp", {.shape = {.dp = 2, .tp = 2, .pp = 2}, .micro_batches = 4}, true},
        Case{"fsdp_pp_zb",
             {.shape = {.fsdp = 2, .pp = 2}, .micro_batches = 4, .schedule = pipeline::Kind::zb_h1}},
        Case{"hybrid_sharded", {.shape = {.dp = 2, .fsdp = 2}, .micro_batches = 2}},
        Case{"sequence_parallel", {.shape = {.tp = 4}, .sequence_parallel = true, .recompute = true}},
        Case{"interleaved",
             {.shape = {.pp = 2}, .micro_batches = 4, .schedule = pipeline::Kind::interleaved, .chunks = 2}},
        Case{"cp", {.shape = {.cp = 2}, .micro_batches = 2}, true},
        Case{"cp_in_rows", {.shape = {.tp = 2, .cp = 4, .cp_row = 2}, .recompute = true}},
        Case{
            "fsdp_pp_cp",
            {.shape = {.fsdp = 2, .pp = 2, .cp = 2}, .micro_batches = 2, .schedule = pipeline::Kind::zb_h1}}),
    [](const auto& test) { return test.param.name; });

// Without values, a model that is too large for any machine of a laboratory: 170 billion parameters.
TEST(SimulatedSteps, HoldMoreThanThisMachine) {
  if (built_with_asan || built_with_tsan)
    GTEST_SKIP() << "their shadow memory of the tensors would take too much";
  nn::GptOptions gpt;
  gpt.vocab_size = 50257, gpt.context = 2048, gpt.layers = 96, gpt.heads = 96, gpt.width = 12288;
  const HybridOptions options{.shape = {.tp = 8, .pp = 4}, .micro_batches = 4};
  const SimulatedStep step = simulate_step(gpt, options, {.rows = 4});
  EXPECT_GT(step.parameters, 170'000'000'000);
  EXPECT_GT(step.peak_bytes, 16 * static_cast<std::uint64_t>(step.parameters) / 32);
}

TEST(SimulatedSteps, NeedToKnowHowFastAGpuComputes) {
  const char* const unknown = R"({"intra": {"latency_us": 1, "bandwidth_gb_s": 10}})";
  EXPECT_DIST_ERROR(simulate_step(a_gpt(), {}, {.topology = unknown}), Errc::invalid_argument, "tflops");
}

nn::GptOptions with_grouped_heads() {
  nn::GptOptions gpt = a_gpt();
  gpt.kv_heads = 2, gpt.gated = gpt.rms_norm = gpt.rotary = true, gpt.bias = false, gpt.hidden = 40;
  return gpt;
}

// The clock sees what the layers compute: of attention's products only the half that a causal mask leaves,
// but the scores once more in backward. That is 7 layers context width per token, where the usual count has
// 12.
TEST(TrainingFlops, AreThoseOfTheLayers) {
  for (const nn::GptOptions& gpt : {a_gpt(), with_grouped_heads()}) {
    constexpr double rate = 1e9;
    const double charged = simulate_step(gpt, {}, {.rows = 4, .flops = rate}).compute_s * rate,
                 tokens = 4. * static_cast<double>(gpt.context),
                 product = static_cast<double>(gpt.layers * gpt.context * gpt.width) * tokens;
    EXPECT_NEAR(nn::training_flops_per_token(gpt) * tokens, charged + (12 - 7) * product, 1e-6 * charged);
  }
}

TEST(TrainingFlops, OfLoraHaveNoGradientOfWhatIsNotTrained) {
  const nn::GptOptions gpt = with_grouped_heads();
  nn::GPT model(gpt);
  nn::add_lora(model, {.rank = 3});
  double expected = 12. * static_cast<double>(gpt.layers * gpt.context * gpt.width);
  for (const auto& [name, parameter] : model.named_parameters())
    if (parameter->value.dim() == 2 && name != "transformer.wte.weight")
      expected += (parameter->requires_grad() ? 6. : 4.) * static_cast<double>(parameter->value.numel());
  EXPECT_EQ(nn::training_flops_per_token(gpt, 3), expected);
}

// In a ring of n ranks a block of keys and values travels while the one before is computed with. What is left
// is the last hop of its gradients, for which there is nothing more to compute (ring_attention.h).
TEST(SimulatedSteps, RingAttentionExposesTheLastHopOfItsGradientsAlone) {
  constexpr int n = 4;
  constexpr std::int64_t tokens = 4096, width = 64;  // starting a message takes little time
  constexpr double rate = 1e9;
  double forward = 0, backward = 0, hop = 0;
  sim::RunOptions run;
  run.ranks = n;
  run.values = false;
  const auto report = sim::run(run, [&](int rank) {
    init_process_group();
    {
      nn::CausalSelfAttention attention(width, {.heads = 4});
      const ContextSlice slice{tokens, n, true};
      attention.set_core(std::make_shared<RingAttention>(ProcessGroup(), slice));
      charge_flops(attention, rate);
      attention.set_position({.tokens = slice.runs(rank)});
      const Tensor input = zeros({1, tokens / n, width}), block = zeros({2, 1, tokens / n, width}),
                   next = empty_like(block);
      const auto longest = [](double& seconds, const auto& f) {
        barrier();
        const auto began = Clock::now();
        f();
        seconds = std::max(seconds, std::chrono::duration<double>(Clock::now() - began).count());
      };
      longest(forward, [&] { (void)attention.forward(input); });
      longest(backward, [&] { (void)attention.backward(input); });
      longest(hop, [&] {
        for (Work& work : batch_isend_irecv(
                 {{P2P::isend, block, (rank + 1) % n, {}}, {P2P::irecv, next, (rank + n - 1) % n, {}}}))
          work.wait();
      });
    }
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok()) << report.text();
  // c_attn and c_proj; and each rank's balanced quarter of the scores that a causal mask leaves.
  const double layers = 2.0 * tokens / n * (3 + 1) * width * width / rate,
               product = 2.0 * width * tokens * tokens / 2 / n / rate;
  EXPECT_NEAR(forward, layers + 2 * product, 0.05 * hop);
  EXPECT_NEAR(backward, 2 * layers + 5 * product + hop, 0.05 * hop);
}

// A long sequence: each of four ranks computes a quarter of the step, and the ring is hidden behind that.
TEST(SimulatedSteps, ContextParallelRanksDivideAStep) {
  nn::GptOptions gpt = a_gpt();
  gpt.context = 512;
  const auto of = [&](int cp) {
    return simulate_step(gpt, {.shape = {.cp = cp}}, {.rows = 1, .flops = 1e9});
  };
  const SimulatedStep one = of(1), four = of(4);
  EXPECT_NEAR(one.step_s, one.compute_s, 1e-9 * one.compute_s);
  EXPECT_GT(four.exposed_s, 0);
  EXPECT_LT(four.exposed_s, 0.1 * four.step_s);
}

// The gradients of a stage, averaged after the step, would take as long as one all_reduce of them.
struct Replicas {
  HybridShape shape;
  pipeline::Kind schedule = pipeline::Kind::one_f_one_b;
  DType dtype = DType::f32;
  double most = 0.6;  // of the time of that all_reduce
};
// GoogleTest's way of printing a parameter.
void PrintTo(const Replicas& r, std::ostream* out) {
  *out << r.shape.str() << ' ' << pipeline::name(r.schedule) << ' ' << name(r.dtype);
}
class AverageOverReplicas : public testing::TestWithParam<Replicas> {};

TEST_P(AverageOverReplicas, OverlapsWithTheLastBackward) {
  const Replicas replicas = GetParam();
  nn::GptOptions gpt = a_gpt();
  gpt.context = 8, gpt.heads = 4, gpt.width = 256;
  const auto seconds = [&](const HybridShape& shape) {
    return simulate_step(gpt, {.shape = shape, .micro_batches = 4, .schedule = replicas.schedule},
                         {.rows = 4, .flops = 1e11, .dtype = replicas.dtype})
        .step_s;
  };
  double alone = 0;
  sim::RunOptions run;
  run.ranks = 2;
  run.topology = "dgx-h100-ndr";
  const auto report = sim::run(run, [&](int) {
    init_process_group();
    {
      Tensor stage = zeros({4 * 12 * 256 * 256});
      barrier();
      const auto began = Clock::now();
      all_reduce(stage, ReduceOp::avg);
      alone = std::chrono::duration<double>(Clock::now() - began).count();
    }
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok());
  HybridShape alike = replicas.shape;
  alike.dp = 1;
  const double exposed = seconds(replicas.shape) - seconds(alike);
  RecordProperty("alone_us", std::to_string(1e6 * alone));
  RecordProperty("exposed_us", std::to_string(1e6 * exposed));
  EXPECT_LT(exposed, replicas.most * alone) << "alone " << alone;
}

// With 1F1B, the backward of units ends with the average of the last one, on each of two stages.
INSTANTIATE_TEST_SUITE_P(
    Meshes, AverageOverReplicas,
    testing::Values(Replicas{{.dp = 2, .pp = 2}}, Replicas{{.dp = 2, .pp = 2}, pipeline::Kind::zb_h1},
                    Replicas{{.dp = 2, .pp = 2}, pipeline::Kind::one_f_one_b, DType::bf16, 0.8},
                    Replicas{{.dp = 2, .pp = 2}, pipeline::Kind::zb_h1, DType::bf16}));

// The bubble is what the formula says, except for the head, which makes the last stage longer.
TEST(SimulatedSteps, HaveTheTimesOfTheirSchedules) {
  const HybridShape shape{.dp = 2, .tp = 2, .pp = 4};
  constexpr int micro_batches = 8;
  const auto of = [&](pipeline::Kind kind, int chunks) {
    return simulate_step(a_gpt(),
                         {.shape = shape, .micro_batches = micro_batches, .schedule = kind, .chunks = chunks},
                         {.rows = micro_batches, .flops = 1e7});
  };
  const SimulatedStep one = of(pipeline::Kind::one_f_one_b, 1),
                      interleaved = of(pipeline::Kind::interleaved, 2), zero = of(pipeline::Kind::zb_h1, 1);
  const auto expect_bubble = [&](const SimulatedStep& step, pipeline::Kind kind, int chunks) {
    const double formula = pipeline::bubble_formula(kind, {shape.pp, micro_batches, chunks},
                                                    {.forward = 1, .backward_input = 1});
    EXPECT_NEAR(step.bubble_s / (step.bubble_s + step.compute_s), formula, 0.05) << pipeline::name(kind);
    EXPECT_GE(step.exposed_s, 0) << pipeline::name(kind);
    EXPECT_EQ(step.timeline.ranks.size(), 4u);
  };
  expect_bubble(one, pipeline::Kind::one_f_one_b, 1);
  expect_bubble(interleaved, pipeline::Kind::interleaved, 2);
  expect_bubble(zero, pipeline::Kind::zb_h1, 1);
  EXPECT_LT(interleaved.step_s, one.step_s);
  EXPECT_LT(zero.step_s, one.step_s);
}

}  // namespace
}  // namespace dist::test
