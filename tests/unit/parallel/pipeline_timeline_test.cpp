// Times of schedules, against the formulas: in whole numbers, so that they are equal exactly.
#include <gtest/gtest.h>

#include "dist/core/error.h"
#include "dist/parallel/pipeline/costs.h"
#include "dist/parallel/pipeline/timeline.h"

#include "pipeline_shapes.h"

namespace dist::pipeline::test {
namespace {

// Forward, input gradient, weight gradient; the last two have a long weight gradient.
constexpr std::array some_times{StageTimes{1, 1, 1}, StageTimes{2, 3, 1}, StageTimes{5, 1, 1},
                                StageTimes{1, 5, 1}, StageTimes{4, 2, 7}, StageTimes{2, 4, 3}};

double total(const Case& each, const StageTimes& times) {
  return run(make_schedule(each.kind, each.shape), {.stages = {times}}).total;
}

TEST(Timeline, IdleTimeIsThatOfTheFormula) {
  for (const Case& each : all_cases())
    for (const StageTimes& times : some_times) {
      const auto [p, m, v] = each.shape;
      EXPECT_EQ(total(each, times), m * v * times.all() + idle_formula(each.kind, each.shape, times))
          << each.text() << " with " << times.forward << " " << times.backward_input << " "
          << times.backward_weight;
    }
}

TEST(Timeline, TheBubbleIsTheIdleFractionOfThePapers) {
  for (const Case& each : all_cases()) {
    const auto [p, m, v] = each.shape;
    const StageTimes times{2, 3, 1};
    const auto timeline = run(make_schedule(each.kind, each.shape), {.stages = {times}});
    EXPECT_EQ(timeline.bubble, bubble_formula(each.kind, each.shape, times)) << each.text();
    if (each.kind == Kind::gpipe || each.kind == Kind::one_f_one_b) {
      EXPECT_EQ(timeline.bubble, (p - 1.) / (m + p - 1)) << each.text();
    }
    if (each.kind == Kind::interleaved && m >= p) {
      EXPECT_EQ(timeline.bubble, (p - 1.) / (m * v + p - 1)) << each.text();
    }
    if (each.kind == Kind::zb_h1 && m >= p) {
      EXPECT_EQ(timeline.total - m * times.all(),
                (p - 1) * (times.forward + times.backward_input - times.backward_weight))
          << each.text();
    }
  }
}

TEST(Timeline, ZeroBubbleIsFasterThan1F1BWhichIsAsFastAsGPipe) {
  for (const Case& each : all_cases()) {
    if (each.kind != Kind::gpipe) continue;
    for (const StageTimes& times : some_times) {
      const double gpipe = total(each, times), of_1f1b = total({Kind::one_f_one_b, each.shape}, times),
                   zb_h1 = total({Kind::zb_h1, each.shape}, times);
      EXPECT_EQ(of_1f1b, gpipe) << each.text();
      if (each.shape.ranks > 1)
        EXPECT_LT(zb_h1, of_1f1b) << each.text();
      else
        EXPECT_EQ(zb_h1, of_1f1b) << each.text();
    }
  }
}

TEST(Timeline, MoreChunksMakeTheSameModelFaster) {
  for (int p = 2; p <= 8; ++p)
    for (int m = p; m <= 16; ++m) {
      double before = total({Kind::one_f_one_b, {p, m}}, {12, 12, 12});
      for (const int v : {2, 3, 4}) {
        const double now = total({Kind::interleaved, {p, m, v}}, {12. / v, 12. / v, 12. / v});
        EXPECT_LT(now, before) << p << " ranks, " << m << " micro-batches, " << v << " chunks";
        before = now;
      }
    }
}

TEST(Timeline, BeginsAnActionWhenItsRankIsFreeAndItsInputIsThere) {
  const auto timeline = run(make_schedule(Kind::one_f_one_b, {2, 2}), {.stages = {{1, 2, 1}, {3, 1, 1}}});
  const auto expect = [&](std::size_t rank, std::size_t i, const char* text, double begin, double end) {
    const TimedAction& timed = timeline.ranks[rank][i];
    EXPECT_EQ(short_text(timed.action, {2, 2}), text);
    EXPECT_EQ(timed.begin, begin) << text << " on rank " << rank;
    EXPECT_EQ(timed.end, end) << text << " on rank " << rank;
  };
  expect(0, 0, "F0", 0, 1);
  expect(0, 1, "F1", 1, 2);
  expect(1, 0, "F0", 1, 4);
  expect(1, 1, "B0", 4, 6);
  expect(0, 2, "B0", 6, 9);
  expect(1, 2, "F1", 6, 9);
  expect(1, 3, "B1", 9, 11);
  expect(0, 3, "B1", 11, 14);
  EXPECT_EQ(timeline.total, 14);
  EXPECT_EQ(timeline.bubble, 10. / 28);
}

TEST(Timeline, LatencyIsPaidBetweenRanksOnly) {
  // One micro-batch: down the pipeline and back.
  for (const int p : {1, 2, 5})
    EXPECT_EQ(run(make_schedule(Kind::gpipe, {p, 1}), {.stages = {{1, 1, 1}}, .latency = 10}).total,
              3 * p + 2 * (p - 1) * 10);
  EXPECT_EQ(run(make_schedule(Kind::interleaved, {1, 2, 3}), {.stages = {{1, 1, 1}}, .latency = 10}).total,
            18);
}

// GPipe pays it on the way down and on the way back. In 1F1B rank 0 has at most p micro-batches in flight, so
// it runs p of them per round trip, whose 2 (p - 1) messages nothing hides.
TEST(Timeline, LatencyCosts1F1BMoreThanGPipe) {
  const double latency = 1;
  for (int p = 2; p <= 8; ++p) {
    const auto total_of = [&](Kind kind, int m) {
      return run(make_schedule(kind, {p, m}), {.stages = {{1, 1, 1}}, .latency = latency}).total;
    };
    EXPECT_EQ(total_of(Kind::gpipe, 9 * p), 3 * (10 * p - 1) + 2 * (p - 1) * latency);
    EXPECT_EQ(total_of(Kind::one_f_one_b, 9 * p) - total_of(Kind::one_f_one_b, 4 * p),
              5 * (3 * p + 2 * (p - 1) * latency))
        << p << " ranks";
  }
}

TEST(Timeline, MistakesAreErrors) {
  const auto error_of = [](const Schedule& schedule, const Times& times) -> std::string {
    try {
      run(schedule, times);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(gpipe(3, 1), {.stages = {{}, {}}}),
            "times of 2 stages for a pipeline of 3; give one per stage, or one for all");
  Schedule schedule = gpipe(2, 1);
  schedule.ranks[0].erase(schedule.ranks[0].begin());
  EXPECT_EQ(error_of(schedule, {.stages = {{}}}),
            "rank 0 never gets what it needs for backward of micro-batch 0 on stage 0");
  schedule.ranks[0][0].stage = 2;
  EXPECT_EQ(error_of(schedule, {.stages = {{}}}), "there is no backward of micro-batch 0 on stage 2");
}

}  // namespace
}  // namespace dist::pipeline::test
