// The numbers that PyTorch gave. Ranks are emulated, one model each in one thread: their gradients are
// averaged by hand, as data parallel training does.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/nn/cross_entropy.h"

#include "support/golden_training.h"

namespace dist::test {
namespace {

struct EmulatedRank {
  std::unique_ptr<nn::Module> model;
  std::unique_ptr<nn::Optimizer> optimizer;
  nn::CrossEntropyLoss loss;
};

void expect_near(double got, double expected, double relative, const std::string& what) {
  EXPECT_NEAR(got, expected, relative * std::abs(expected)) << what;
}

void average_gradients(const std::vector<EmulatedRank>& ranks) {
  for (std::size_t k = 0; k < ranks[0].model->parameters().size(); ++k) {
    Tensor mean = zeros_like(ranks[0].model->parameters()[k]->grad);
    for (const auto& rank : ranks) mean.add_(rank.model->parameters()[k]->grad);
    mean.div_(static_cast<double>(ranks.size()));
    for (const auto& rank : ranks) rank.model->parameters()[k]->grad.copy_(mean);
  }
}

void copy_buffers_of_rank_0(const std::vector<EmulatedRank>& ranks) {
  const auto source = ranks[0].model->named_buffers();
  for (const auto& rank : ranks)
    for (std::size_t k = 0; k < source.size(); ++k)
      rank.model->named_buffers()[k].buffer->value.copy_(source[k].buffer->value);
}

void expect_first_gradients(nn::Module& model, const GoldenRun& run) {
  const auto parameters = model.named_parameters();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const double got = l2_norm(parameters[k].parameter->grad), expected = run.ranks[0].first_step_grad_l2[k];
    if (is_taken_off(parameters[k].name))
      EXPECT_LT(std::max(got, expected), 1e-5) << parameters[k].name;
    else
      expect_near(got, expected, run.norm_tolerance(), "first gradient of " + parameters[k].name);
  }
}

void expect_final_state(nn::Module& model, const GoldenRun& run, const GoldenRank& expected) {
  const auto parameters = model.named_parameters();
  ASSERT_EQ(parameters.size(), expected.final_param_l2.size());
  for (std::size_t k = 0; k < parameters.size(); ++k)
    expect_near(l2_norm(parameters[k].parameter->value), expected.final_param_l2[k], run.norm_tolerance(),
                "final " + parameters[k].name);
  ASSERT_EQ(model.named_buffers().size(), expected.buffers_l2.size());
  for (const auto& [name, buffer] : model.named_buffers())
    expect_near(l2_norm(buffer->value), expected.buffers_l2.at(name), run.norm_tolerance(), name);
}

class Golden : public testing::TestWithParam<GoldenRun> {};

TEST_P(Golden, LossesGradientsAndParametersAreThoseOfPyTorch) {
  const GoldenRun& run = GetParam();
  std::vector<EmulatedRank> ranks(static_cast<std::size_t>(run.world_size));
  for (auto& rank : ranks) {
    rank.model = golden_model(run);
    rank.optimizer = golden_optimizer(run, *rank.model);
  }
  for (int step = 0; step < run.steps; ++step) {
    copy_buffers_of_rank_0(ranks);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const GoldenBatch batch = golden_batch(run, static_cast<int>(r), step);
      ranks[r].model->zero_grad();
      const double loss = ranks[r].loss.forward(ranks[r].model->forward(batch.input), batch.targets);
      expect_near(loss, run.ranks[r].losses[static_cast<std::size_t>(step)], run.loss_tolerance(),
                  fmt::format("loss of rank {}, step {}", r, step));
      ranks[r].model->backward(ranks[r].loss.backward());
    }
    average_gradients(ranks);
    if (step == 0) expect_first_gradients(*ranks[0].model, run);
    for (auto& rank : ranks) rank.optimizer->step();
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) expect_final_state(*ranks[r].model, run, run.ranks[r]);
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Golden, testing::ValuesIn(golden_runs()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace dist::test
