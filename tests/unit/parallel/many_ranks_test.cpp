// A GPT on a mesh of many virtual ranks, whose layers take as long as their operations. MANY_RANKS=1024 gives
// the table of the README: 16 stages x 8 replicas x 8 tensor ranks.
#include <cstdlib>

#include <gtest/gtest.h>

#include "dist/parallel/hybrid/flop_clock.h"
#include "dist/simulate/simulate.h"

#include "hybrid_support.h"

namespace dist::test {
namespace {

struct Measured {
  double step_s = 0, busy_s = 0, peak_mib = 0, wall_s = 0;
  double bubble() const { return 1 - busy_s / step_s; }
};

// Two steps, of which the second is timed: its time, and how long the first stage computes in it.
Measured measure(pipeline::Kind kind, int chunks, const HybridShape& shape, nn::GptOptions gpt,
                 int micro_batches, double flops) {
  Measured m;
  sim::RunOptions run;
  run.ranks = shape.ranks();
  run.topology = "dgx-h100-ndr";
  run.stack_bytes = std::size_t{1} << 18;
  run.watch = false;
  const auto report = sim::run(run, [&](int rank) {
    init_process_group();
    {
      nn::manual_seed(17);
      HybridGpt model(gpt,
                      {.shape = shape, .micro_batches = micro_batches, .schedule = kind, .chunks = chunks});
      for (const auto& stage : model.stages()) charge_flops(*stage, flops);
      const std::int64_t rows = micro_batches * model.data_ranks();
      (void)gradients(model, 0, rows, gpt.context);
      barrier();
      const auto began = Clock::now();
      (void)gradients(model, 1, rows, gpt.context);
      barrier();
      if (rank == 0) m.step_s = std::chrono::duration<double>(Clock::now() - began).count();
    }
    destroy_process_group();
  });
  EXPECT_TRUE(report.ok()) << report.text();
  m.peak_mib = static_cast<double>(report.max_peak_buffer_bytes()) / (1 << 20);
  m.wall_s = report.wall_s;
  // For one rank: 3 products of 2 operations per parameter and token, and attention.
  const auto width = static_cast<double>(gpt.width), context = static_cast<double>(gpt.context);
  const double tokens = micro_batches * context, layers = static_cast<double>(gpt.layers) / shape.pp;
  m.busy_s = layers * tokens * (6 * 12 * width * width + 3.5 * 2 * context * width) / shape.tp / flops;
  return m;
}

// The gradients of a stage, averaged after the step, would take as long as one all_reduce of them.
TEST(ManyRanks, TheAverageOverReplicasOverlapsWithTheLastBackward) {
  nn::GptOptions gpt;
  gpt.vocab_size = 11, gpt.context = 8, gpt.layers = 8, gpt.heads = 4, gpt.width = 256, gpt.tied = false;
  const double flops = 1e11;
  const auto seconds = [&](int dp) {
    return measure(pipeline::Kind::one_f_one_b, 1, {.dp = dp, .pp = 2}, gpt, 4, flops).step_s;
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
  const double exposed = seconds(2) - seconds(1);
  RecordProperty("alone_us", std::to_string(1e6 * alone));
  RecordProperty("exposed_us", std::to_string(1e6 * exposed));
  EXPECT_LT(exposed, 0.6 * alone) << "alone " << alone;
}

TEST(ManyRanks, StepsOfAGptHaveTheTimesOfTheirSchedules) {
  const char* const asked = std::getenv("MANY_RANKS");
  const bool all = asked && std::atoi(asked) == 1024;
  HybridShape shape{.dp = 2, .tp = 2, .pp = 4};
  nn::GptOptions gpt;
  gpt.vocab_size = 11, gpt.context = 16, gpt.layers = 8, gpt.heads = 8, gpt.width = 32, gpt.tied = false;
  int micro_batches = 8;
  if (all) {
    shape = {.dp = 8, .tp = 8, .pp = 16};
    gpt.layers = 32, gpt.width = 160;
    micro_batches = 16;
  }
  const double flops = all ? 2.5e9 : 1e7;  // so that a stage's forward takes about a millisecond
  const auto of = [&](pipeline::Kind kind, int chunks) {
    const Measured m = measure(kind, chunks, shape, gpt, micro_batches, flops);
    fmt::print(
        "{:12} step {:.1f} ms, bubble and exposed {:.1f} %, peak {:.1f} MiB per rank, {:.0f} s on this "
        "machine\n",
        pipeline::name(kind), 1e3 * m.step_s, 100 * m.bubble(), m.peak_mib, m.wall_s);
    return m;
  };
  const Measured one = of(pipeline::Kind::one_f_one_b, 1), interleaved = of(pipeline::Kind::interleaved, 2),
                 zero = of(pipeline::Kind::zb_h1, 1);
  const double p = shape.pp, m = micro_batches;
  EXPECT_NEAR(one.bubble(), (p - 1) / (m + p - 1), 0.05);
  EXPECT_LT(interleaved.step_s, one.step_s);
  EXPECT_LT(zero.step_s, one.step_s);
}

}  // namespace
}  // namespace dist::test
