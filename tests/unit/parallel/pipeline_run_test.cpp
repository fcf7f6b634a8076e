// Pipelines that run: equal to one rank for all schedules, with uneven micro-batches, tied heads, dropout.
#include <gtest/gtest.h>

#include "dist/parallel/pipeline/check.h"
#include "dist/parallel/pipeline/gpt_pipeline.h"
#include "dist/simulate/simulate.h"

#include "gpt_support.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

using pipeline::Kind;

struct Case {
  Kind kind;
  int ranks, micro_batches, chunks = 1;
  std::int64_t rows = 8;
  bool tied = true;
  double dropout = 0;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << pipeline::name(c.kind) << ' ' << c.ranks << " ranks, " << c.micro_batches << " micro-batches, "
       << c.chunks << " chunks, " << c.rows << " rows";
}

nn::GptOptions gpt_of(const Case& c) {
  nn::GptOptions options = small_gpt(c.tied);
  options.layers = 6, options.dropout = c.dropout;
  return options;
}

class RunPipeline : public testing::TestWithParam<Case> {};

TEST_P(RunPipeline, EqualsOneRank) {
  const Case c = GetParam();
  const auto reference = make_gpt(gpt_of(c));
  reference->set_position({.seed = 5, .step = 1, .first_row = 0, .tokens = {}});
  Tensor next = targets(0, c.rows);
  next.data<std::int64_t>()[3] = -1;  // so that micro-batches do not count equally
  nn::CrossEntropyLoss loss({.ignore_index = -1});
  const double expected = loss.forward(reference->forward(tokens(0, c.rows)), next);
  (void)reference->backward(loss.backward());
  run_ranks(c.ranks, [&](int rank) {
    nn::manual_seed(17);
    GptPipeline gpt(gpt_of(c), {.schedule = c.kind,
                                .micro_batches = c.micro_batches,
                                .chunks = c.chunks,
                                .loss = cross_entropy_loss(-1)});
    for (const auto& stage : gpt.stages()) {
      stage->to(DType::f64);
      stage->set_position({.seed = 5, .step = 1, .first_row = 0, .tokens = {}});
    }
    const bool is_last = rank == c.ranks - 1;
    for (int again = 0; again < 2; ++again) {
      gpt.zero_grad();
      const double value = gpt.step(rank == 0 ? tokens(0, c.rows) : Tensor(), is_last ? next : Tensor());
      EXPECT_NEAR(value, expected, 1e-12);
      nn::StateDict all = gradients_of(*reference);
      if (c.tied && c.ranks * c.chunks > 1)
        all.push_back({"lm_head.weight", *nn::find(all, "transformer.wte.weight")});
      for (const auto& stage : gpt.stages()) expect_state(all, gradients_of(*stage), 1e-12, "gradient");
    }
    const bool is_bounded = c.kind == Kind::one_f_one_b || c.kind == Kind::zb_h1;
    EXPECT_LE(gpt.most_in_flight(),
              is_bounded ? std::min(c.micro_batches, c.ranks - rank) : c.chunks * c.micro_batches);
    if (c.kind == Kind::gpipe) {
      EXPECT_EQ(gpt.most_in_flight(), c.micro_batches);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, RunPipeline,
    testing::Values(Case{Kind::gpipe, 1, 3}, Case{Kind::gpipe, 2, 4}, Case{Kind::gpipe, 3, 5, 1, 7, false},
                    Case{Kind::one_f_one_b, 1, 1}, Case{Kind::one_f_one_b, 2, 1},
                    Case{Kind::one_f_one_b, 2, 8}, Case{Kind::one_f_one_b, 4, 3, 1, 8, true, 0.2},
                    Case{Kind::one_f_one_b, 4, 7, 1, 9}, Case{Kind::interleaved, 2, 4, 2},
                    Case{Kind::interleaved, 2, 3, 3, 5, true, 0.2},
                    Case{Kind::interleaved, 3, 7, 2, 9, false}, Case{Kind::zb_h1, 2, 5},
                    Case{Kind::zb_h1, 4, 9, 1, 11}, Case{Kind::zb_h1, 3, 2, 1, 4, false, 0.2}));

TEST(SplitByCost, StagesAreBalancedAndWhole) {
  nn::GptOptions options;
  options.layers = 8, options.width = 16, options.vocab_size = 10;
  for (int stages = 1; stages <= 8; ++stages) {
    const auto slices = split_by_cost(options, stages);
    std::int64_t next = 0, most = 0;
    for (const auto& slice : slices) {
      EXPECT_EQ(slice.first, next);
      next = slice.last;
      most = std::max(most, slice.last - slice.first);
    }
    EXPECT_EQ(next, 8);
    EXPECT_EQ(most, (8 + stages - 1) / stages);
  }
  options.vocab_size = 50000;
  EXPECT_EQ(split_by_cost(options, 2)[1].first, 7) << "the head costs more than all blocks";
  EXPECT_DIST_ERROR(split_by_cost(options, 9), Errc::invalid_argument, "cannot be cut into 9 stages");
}

TEST(PipelineErrors, AreSaid) {
  run_ranks(2, [](int) {
    nn::Linear layer(2, 2);
    const auto schedule = pipeline::make_schedule(Kind::gpipe, {2, 2, 1});
    EXPECT_DIST_ERROR(Pipeline({&layer}, pipeline::make_schedule(Kind::gpipe, {3, 2, 1})).most_in_flight(),
                      Errc::invalid_argument, "the schedule is for 3 ranks, the group has 2");
    EXPECT_DIST_ERROR(Pipeline({&layer, &layer}, schedule).most_in_flight(), Errc::invalid_argument,
                      "passes 2 stages");
    auto wrong = schedule;
    wrong.ranks[1].pop_back();
    EXPECT_DIST_ERROR(Pipeline({&layer}, wrong).most_in_flight(), Errc::invalid_argument, "Pipeline: ");
  });
}

// A stage whose passes take some time.
class Timed final : public nn::Module {
 public:
  Timed() {
    weight_.initialize(ones({1}));
    register_parameter("weight", weight_);
  }

 private:
  Tensor run_forward(const Tensor& input) override {
    if (is_training()) sim::compute(1);
    return input;
  }
  Tensor run_backward(const Tensor& grad_output) override {
    sim::compute(1);
    add_parameter_grads([] { sim::compute(1); });
    return grad_output;
  }
  nn::Parameter weight_;
};

// Seconds against micro-batches of a hundredth of a microsecond: the messages' time is below a part in a
// million.
double seconds_of_a_step(Kind kind, int ranks, int micro_batches, int chunks = 1) {
  double longest = 0;
  sim::RunOptions options;
  options.ranks = ranks;
  const auto report = sim::run(options, [&](int) {
    init_process_group();
    {
      std::vector<std::unique_ptr<Timed>> layers;
      std::vector<nn::Module*> stages;
      for (int i = 0; i < chunks; ++i) stages.push_back(layers.emplace_back(std::make_unique<Timed>()).get());
      const auto ones_loss = LossFunction{.of =
                                              [](const Tensor& out, const Tensor&) {
                                                return PartialLoss{0, out};
                                              },
                                          .count = [](const Tensor&) { return 1; }};
      Pipeline pipeline(stages, pipeline::make_schedule(kind, {ranks, micro_batches, chunks}),
                        {.loss = ones_loss});
      const Tensor batch = ones({micro_batches, 1});
      (void)pipeline.step(batch, batch);
      barrier();
      const auto began = Clock::now();
      (void)pipeline.step(batch, batch);
      barrier();
      longest = std::max(longest, std::chrono::duration<double>(Clock::now() - began).count());
    }
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok());
  return longest;
}

TEST(PipelineTime, BubblesAreTheFormulas) {
  for (const int p : {2, 4}) {
    for (const int m : {4, 8}) {
      const double work = 3.0 * m;
      EXPECT_NEAR(seconds_of_a_step(Kind::gpipe, p, m) / (work + 3.0 * (p - 1)), 1, 0.01);
      EXPECT_NEAR(seconds_of_a_step(Kind::one_f_one_b, p, m) / (work + 3.0 * (p - 1)), 1, 0.01);
      EXPECT_NEAR(seconds_of_a_step(Kind::zb_h1, p, m) / (work + (p - 1)), 1, 0.01)
          << "F + B_in - B_w = 1 second";
      EXPECT_NEAR(seconds_of_a_step(Kind::interleaved, p, m, 2) / (2 * work + 3.0 * (p - 1)), 1, 0.01);
    }
  }
}

}  // namespace
}  // namespace dist::test
