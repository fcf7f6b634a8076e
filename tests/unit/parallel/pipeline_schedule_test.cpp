// The lists that the generators write, and what they keep in memory.
#include <algorithm>

#include <gtest/gtest.h>

#include "dist/core/error.h"
#include "dist/parallel/pipeline/costs.h"
#include "dist/parallel/pipeline/schedule.h"

#include "pipeline_shapes.h"

namespace dist::pipeline::test {
namespace {

std::string line(const Schedule& schedule, std::size_t rank) {
  std::string line;
  for (const Action& action : schedule.ranks[rank])
    line += (line.empty() ? "" : " ") + short_text(action, schedule.shape);
  return line;
}

TEST(Schedules, GPipeRunsAllForwardsFirst) {
  EXPECT_EQ(line(gpipe(2, 3), 0), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(line(gpipe(2, 3), 1), "F0 F1 F2 B0 B1 B2");
}

TEST(Schedules, OneForwardOneBackwardInTurnsAfterAWarmUp) {
  const Schedule schedule = one_f_one_b(4, 6);
  EXPECT_EQ(line(schedule, 0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  EXPECT_EQ(line(schedule, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  EXPECT_EQ(line(schedule, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
  EXPECT_EQ(line(one_f_one_b(4, 2), 0), "F0 F1 B0 B1");  // fewer micro-batches than ranks
}

TEST(Schedules, ZeroBubbleDelaysWeightsByTheRank) {
  const Schedule schedule = zb_h1(3, 4);
  EXPECT_EQ(line(schedule, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(line(schedule, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
  EXPECT_EQ(line(zb_h1(4, 2), 3), "F0 B0 F1 B1 W0 W1");
}

TEST(Schedules, InterleavedGoesThroughItsChunksInRounds) {
  const Schedule schedule = interleaved(2, 4, 2);
  EXPECT_EQ(line(schedule, 0), "F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a");
  EXPECT_EQ(line(schedule, 1), "F0a F1a F0b B0b F1b B1b F2a B0a F3a B1a F2b B2b F3b B3b B2a B3a");
  EXPECT_EQ(interleaved(3, 5, 1).ranks, one_f_one_b(3, 5).ranks);
  // A remainder of one micro-batch joins the round before it.
  EXPECT_EQ(line(interleaved(2, 3, 2), 1), "F0a F1a F2a F0b B0b F1b B1b F2b B2b B0a B1a B2a");
}

TEST(Schedules, MessagesStandBesideWhatNeedsThem) {
  const Schedule schedule = make_schedule(Kind::one_f_one_b, {2, 3});
  EXPECT_EQ(line(schedule, 0), "F0 F0> F1 F1> >B0 B0 F2 F2> >B1 B1 >B2 B2");
  EXPECT_EQ(line(schedule, 1), ">F0 F0 B0 B0> >F1 F1 B1 B1> >F2 F2 B2 B2>");
}

TEST(Schedules, ReceivesOfInterleavedStandWhereTheyAreSent) {
  // Rank 0 gets micro-batch 0's activation back from rank 1 while it runs F1a, and micro-batch 1's after it.
  const Schedule schedule = make_schedule(Kind::interleaved, {2, 2, 2});
  EXPECT_EQ(line(schedule, 0),
            "F0a F0a> F1a F1a> >F0b F0b F0b> >F1b F1b F1b> >B0b B0b B0b> >B1b B1b B1b> >B0a B0a >B1a B1a");
}

TEST(Schedules, AChunkThatFollowsOnItsOwnRankNeedsNoMessage) {
  EXPECT_EQ(line(make_schedule(Kind::interleaved, {1, 1, 3}), 0), "F0a F0b F0c B0c B0b B0a");
}

TEST(Schedules, MicroBatchesInFlightAreThoseOfTheFormula) {
  for (const Case& each : all_cases()) {
    const auto counted = peaks(make_schedule(each.kind, each.shape));
    for (int rank = 0; rank < each.shape.ranks; ++rank)
      EXPECT_EQ(counted[static_cast<std::size_t>(rank)], peak_formula(each.kind, each.shape, rank))
          << each.text() << ", rank " << rank;
  }
}

TEST(Schedules, OneForwardOneBackwardHoldsTheFewest) {
  for (const Case& each : all_cases()) {
    if (each.kind != Kind::one_f_one_b && each.kind != Kind::zb_h1) continue;
    const auto [p, m, v] = each.shape;
    int most = 0;
    for (int rank = 0; rank < p; ++rank) {
      const Peak peak = peaks(make_schedule(each.kind, each.shape))[static_cast<std::size_t>(rank)];
      EXPECT_LE(peak.in_flight, std::min(m, p - rank)) << each.text() << ", rank " << rank;
      most = std::max(most, peak.held);
    }
    EXPECT_EQ(most, std::min(m, p)) << each.text();  // no rank of zb-h1 needs more memory than rank 0 of 1f1b
  }
}

std::string error_of(Kind kind, const Shape& shape) {
  try {
    (void)make_schedule(kind, shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Schedules, ShapesThatDoNotExistAreRefused) {
  EXPECT_EQ(error_of(Kind::gpipe, {0, 4}),
            "a pipeline of 0 ranks, 4 micro-batches and 1 chunk: each must be at least 1");
  EXPECT_EQ(error_of(Kind::zb_h1, {4, 4, 2}),
            "schedule zb-h1 has one chunk per rank; for 2 chunks take interleaved");
}

TEST(Schedules, HaveNames) {
  for (const auto& [kind, text] : kind_names) EXPECT_EQ(kind_named(name(kind)), kind);
  try {
    kind_named("2f2b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no schedule \"2f2b\"; take gpipe, 1f1b, interleaved or zb-h1");
  }
}

}  // namespace
}  // namespace dist::pipeline::test
