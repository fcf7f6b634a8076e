// Findings D11 and D12 of a divided GPT: planted faults are named by layer or parameter, axis, ranks and
// remedy; correct programs cost nothing and get no finding.
#include <gtest/gtest.h>

#include "dist/simulate/simulate.h"

#include "support/expect_error.h"
#include "unit/parallel/tensor_support.h"

namespace dist::test {
namespace {

sim::Report step_of(const TensorCase& c, const Prepare& prepare) {
  sim::RunOptions options;
  options.ranks = c.dp * c.tp, options.stack_bytes = 256 << 10;
  return sim::run(options, [&](int) {
    init_process_group();
    (void)mesh_step(c, prepare);
    destroy_process_group();
  });
}

void expect_finding(const sim::Report& report, check::Code code, const std::vector<std::string>& words) {
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  EXPECT_EQ(report.findings[0].code, code) << report.text();
  const std::string text = report.findings[0].text();
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), text.npos) << word << " is not in\n" << text;
}

const TensorCase plain{1, 2, {}, small_model(2, true, false)};

TEST(TensorFindings, AMissingSumBackwardIsD11AtTheRowLayerBefore) {
  const auto report = step_of(plain, [](nn::GPT& gpt) { LosesTheSum::plant(gpt.blocks()[1]->attn()); });
  expect_finding(report, check::Code::partial_sum,
                 {"the gradient of the output of transformer.h.0.mlp.c_proj differs between the ranks of tp",
                  "rank 0: norm ", "rank 1: norm ", "tensor_support.h:", "fix: sum the ranks' partial sums"});
}

// Before the first layer there is no row-parallel one: the first to notice is the optimizer.
TEST(TensorFindings, AMissingSumBackwardInTheFirstBlockIsD12) {
  const auto report = step_of(plain, [](nn::GPT& gpt) { LosesTheSum::plant(gpt.blocks()[0]->attn()); });
  expect_finding(
      report, check::Code::unreduced_gradient,
      {"the gradient of transformer.h.0.ln_1.bias (and of 3 before it) differs between the ranks of tp",
       "rank 0: norm ", "rank 1: norm ", "fix: call finish_gradients()"});
}

TEST(TensorFindings, ABiasAddedByEveryRankIsD11) {
  TensorCase c = plain;
  c.dp = 2;  // two lines of the mesh have one finding
  const auto report = step_of(c, [](nn::GPT& gpt) { gpt.blocks()[1]->attn().c_proj().set_adds_bias(true); });
  expect_finding(
      report, check::Code::partial_sum,
      {"2 of the 2 ranks of tp add the bias of transformer.h.1.attn.c_proj, so that the sum has it 2 times",
       "ranks 0, 1, 2, 3: a partial sum with", "let one rank add the bias"});
}

TEST(TensorFindings, ABiasThatNoRankAddsIsD11) {
  const auto report =
      step_of(plain, [](nn::GPT& gpt) { gpt.blocks()[0]->attn().c_proj().set_adds_bias(false); });
  expect_finding(report, check::Code::partial_sum, {"0 of the 2 ranks of tp add the bias", "0 times"});
}

// A hook that makes the output of forward differ on this rank.
class AddsTheRank final : public nn::ModuleHook {
 public:
  Tensor after_forward(nn::Module&, const Tensor& output) override { return output * (1.0 + get_rank()); }
};

TEST(TensorFindings, AnOutputThatDiffersIsD11AtTheNextColumnLayer) {
  const auto report =
      step_of(plain, [](nn::GPT& gpt) { gpt.blocks()[0]->add_hook(std::make_shared<AddsTheRank>()); });
  // After the norm the factor is gone, but not the sum that follows.
  expect_finding(report, check::Code::partial_sum, {"differs between the ranks of tp", "transformer.h.1."});
}

TEST(TensorFindings, ANormThatThePlanForgetsIsD12) {
  sim::RunOptions options;
  options.ranks = 2;
  const auto report = sim::run(options, [&](int) {
    init_process_group();
    const DeviceMesh mesh = init_device_mesh({2}, {"tp"});
    const auto gpt = make_model(plain.model);
    ParallelPlan plan = plan_of(*gpt, {.sequence_parallel = true});
    std::erase_if(plan, [](const PlanEntry& entry) { return entry.modules == "transformer.h.*.ln_2"; });
    parallelize_module(*gpt, mesh, plan);
    nn::Adam adam(gpt->parameters());
    const Tensor logits = gpt->forward(numbers(2, 12, plain.model.vocab_size, 3));
    gpt->backward(nn::scattered(logits.shape(), 4));
    finish_gradients(*gpt);
    adam.step();
  });
  expect_finding(
      report, check::Code::unreduced_gradient,
      {"the gradient of transformer.h.1.ln_2.bias (and of 3 before it)", "tensor_findings_test.cpp:"});
}

// Traffic and virtual time are the same, whether the checker compares or not.
TEST(TensorFindings, ComparingTakesNoVirtualTime) {
  const auto run = [&](bool check) {
    sim::RunOptions options;
    options.ranks = 4, options.stack_bytes = 256 << 10, options.check = check;
    return sim::run(options, [&](int) {
      init_process_group();
      (void)mesh_step({2, 2, {.sequence_parallel = true}, small_model(2, true, true)});
      destroy_process_group();
    });
  };
  const auto with = run(true), without = run(false);
  EXPECT_EQ(with.text(), "");
  EXPECT_EQ(with.virtual_time_s, without.virtual_time_s);
  EXPECT_EQ(with.messages, without.messages);
  EXPECT_EQ(with.peak_buffer_bytes, without.peak_buffer_bytes);
}

}  // namespace
}  // namespace dist::test
