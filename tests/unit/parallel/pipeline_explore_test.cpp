// Pipelines under 200 orders of messages each: no schedule deadlocks, and each finds the same gradients. With
// blocking calls instead, exactly those schedules deadlock for which check() predicts it.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/linear.h"
#include "dist/parallel/pipeline/check.h"
#include "dist/parallel/pipeline/pipeline.h"
#include "dist/simulate/explore.h"

namespace dist::test {
namespace {

using pipeline::Kind;

constexpr int explored_runs = 200;

sim::RunOptions run_options(int ranks) {
  sim::RunOptions options;
  options.ranks = ranks;
  return options;
}

// Stages y = x W + b of width 2, whose loss is the sum of the last one's squares. Throws if a rank's
// gradients are not those of the first run.
class ExploredPipeline {
 public:
  explicit ExploredPipeline(Kind kind, const pipeline::Shape& shape)
      : schedule_(pipeline::make_schedule(kind, shape)), gradients_(static_cast<std::size_t>(shape.ranks)) {}

  void operator()(int rank) {
    const pipeline::Shape& shape = schedule_.shape;
    init_process_group();
    {
      std::vector<std::unique_ptr<nn::Linear>> layers;
      std::vector<nn::Module*> stages;
      for (int i = 0; i < shape.chunks; ++i) {
        nn::manual_seed(static_cast<std::uint64_t>(1 + rank + i * shape.ranks));
        stages.push_back(layers.emplace_back(std::make_unique<nn::Linear>(2, 2)).get());
      }
      const LossFunction squares{.of =
                                     [](const Tensor& out, const Tensor&) {
                                       return PartialLoss{sum(out * out), out * 2};
                                     },
                                 .count = [](const Tensor& t) { return t.numel(); }};
      Pipeline pipeline(stages, schedule_, {.loss = squares});
      const Tensor batch = arange(2 * (shape.micro_batches + 1)).view({shape.micro_batches + 1, 2});
      (void)pipeline.step(batch, batch);
      (void)pipeline.step(batch, batch);
      std::vector<float> found;
      for (nn::Module* const stage : stages)
        for (const nn::Parameter* const parameter : stage->parameters())
          for (const float value : parameter->grad.to_vector<float>()) found.push_back(value);
      auto& expected = gradients_[static_cast<std::size_t>(rank)];
      if (expected.empty()) expected = found;
      if (found != expected) throw std::runtime_error("the gradients differ from those of the first run");
    }
    destroy_process_group();
  }

 private:
  const pipeline::Schedule schedule_;
  std::vector<std::vector<float>> gradients_;  // [rank], of the first run
};

const std::vector<std::pair<Kind, pipeline::Shape>> explored_cases{
    {Kind::gpipe, {3, 4}},          {Kind::one_f_one_b, {2, 3}},    {Kind::one_f_one_b, {4, 5}},
    {Kind::interleaved, {2, 4, 2}}, {Kind::interleaved, {3, 5, 2}}, {Kind::zb_h1, {3, 4}}};

TEST(PipelineExplored, NoScheduleDeadlocks) {
  for (const auto& [kind, shape] : explored_cases) {
    const auto found =
        sim::explore(run_options(shape.ranks), ExploredPipeline(kind, shape), {.runs = explored_runs});
    EXPECT_FALSE(found.wrong) << pipeline::name(kind) << ": " << found.text();
    EXPECT_EQ(found.runs, explored_runs);
  }
}

// The messages of a rank's list, one after another.
void run_with_blocking_calls(const pipeline::Schedule& schedule, int rank) {
  using enum pipeline::ActionKind;
  init_process_group();
  Tensor message = zeros({1});
  for (const auto& [kind, stage, micro_batch] : schedule.ranks[static_cast<std::size_t>(rank)]) {
    if (!pipeline::is_message(kind)) continue;
    const bool goes_up = kind == send_activation || kind == receive_gradient;
    const int peer = schedule.shape.rank_of(goes_up ? stage + 1 : stage - 1);
    if (pipeline::is_receive(kind))
      recv(message, peer);
    else
      send(message, peer);
  }
  destroy_process_group();
}

TEST(PipelineExplored, BlockingCallsDeadlockWhereCheckSaysSo) {
  int deadlocks = 0;
  for (const auto& [kind, shape] : explored_cases) {
    const auto schedule = pipeline::make_schedule(kind, shape);
    const std::string told = pipeline::check(schedule, pipeline::Messages::one_by_one);
    const auto found =
        sim::explore(run_options(shape.ranks), [&](int rank) { run_with_blocking_calls(schedule, rank); },
                     {.runs = explored_runs});
    EXPECT_EQ(found.wrong.has_value(), !told.empty()) << pipeline::name(kind) << ": " << told << found.text();
    if (!found.wrong) continue;
    ++deadlocks;
    EXPECT_NE(told.find("deadlock: rank"), std::string::npos) << told;
    ASSERT_FALSE(found.wrong->findings.empty());
    EXPECT_EQ(found.wrong->findings[0].code, check::Code::deadlock) << found.text();
  }
  EXPECT_GE(deadlocks, 3) << "1f1b on both shapes, and one more";
}

}  // namespace
}  // namespace dist::test
