// What follows from a measured time: nccl-tests' factors, the memory limit, medians, means, sizes.
#include <gtest/gtest.h>

#include "distlab/bench/collective.h"
#include "distlab/bench/row.h"
#include "distlab/bench/statistics.h"

namespace {

using namespace distlab::bench;
using enum Collective;

constexpr Collective all_collectives[] = {all_reduce, broadcast, reduce, all_gather, reduce_scatter,
                                          all_to_all, scatter,   gather, barrier,    send_recv};
using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST(BenchFactors, AreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 1), 0);
  for (const auto collective : {all_gather, reduce_scatter, all_to_all, scatter, gather}) {
    EXPECT_DOUBLE_EQ(bus_factor(collective, 2), 0.5) << name(collective);
    EXPECT_DOUBLE_EQ(bus_factor(collective, 8), 0.875) << name(collective);
  }
  for (const auto collective : {broadcast, reduce, send_recv})
    EXPECT_DOUBLE_EQ(bus_factor(collective, 7), 1) << name(collective);
}

TEST(BenchCollectives, HaveNamesFormsAndShares) {
  for (const auto collective : all_collectives) {
    EXPECT_EQ(collective_named(name(collective)), collective);
    EXPECT_FALSE(forms(collective).empty()) << name(collective);
  }
  EXPECT_EQ(forms(all_reduce), std::vector{Form::in_place});
  EXPECT_EQ(forms(all_to_all), std::vector{Form::out_of_place});
  EXPECT_EQ(forms(gather), (std::vector{Form::out_of_place, Form::in_place}));
  EXPECT_EQ(shares(all_reduce, 5), 1);
  EXPECT_EQ(shares(reduce_scatter, 5), 5);
  EXPECT_EQ(kind_of(send_recv), dist::OpKind::send);
}

TEST(BenchCollectives, KnowTheLengthOfEachBuffer) {
  const auto expect = [](Collective collective, bool is_root, std::int64_t in, std::int64_t out) {
    const auto found = elements(collective, 10, 4, is_root);
    EXPECT_EQ(found.in, in) << name(collective);
    EXPECT_EQ(found.out, out) << name(collective);
  };
  expect(all_reduce, false, 0, 10);
  expect(all_gather, false, 10, 40);
  expect(reduce_scatter, false, 40, 10);
  expect(all_to_all, false, 40, 40);
  expect(scatter, true, 40, 10);
  expect(scatter, false, 0, 10);
  expect(gather, true, 10, 40);
  expect(gather, false, 10, 0);
  expect(barrier, true, 0, 0);
}

TEST(BenchLimit, CountsEachByteThatHasToBeReadAndWritten) {
  constexpr auto out = Form::out_of_place, in = Form::in_place;
  EXPECT_DOUBLE_EQ(least_traffic(all_reduce, in, 4), 8);  // n S read, n S written
  EXPECT_DOUBLE_EQ(least_traffic(broadcast, in, 4), 4);   // S read, 3 S written
  EXPECT_DOUBLE_EQ(least_traffic(broadcast, in, 1), 0);
  EXPECT_DOUBLE_EQ(least_traffic(all_reduce, in, 1), 0);      // the sum of one is there
  EXPECT_DOUBLE_EQ(least_traffic(reduce, in, 4), 5);          // 4 S read, S written
  EXPECT_DOUBLE_EQ(least_traffic(all_gather, out, 4), 5);     // S read, 4 S written
  EXPECT_DOUBLE_EQ(least_traffic(all_gather, in, 4), 4);      // S read, 3 S written
  EXPECT_DOUBLE_EQ(least_traffic(reduce_scatter, in, 4), 5);  // 4 S read, S written
  EXPECT_DOUBLE_EQ(least_traffic(all_to_all, out, 4), 8);
  EXPECT_DOUBLE_EQ(least_traffic(scatter, out, 4), 2);
  EXPECT_DOUBLE_EQ(least_traffic(gather, in, 4), 1.5);  // the root's own share stays
  EXPECT_DOUBLE_EQ(least_traffic(barrier, out, 4), 0);
  EXPECT_DOUBLE_EQ(least_traffic(send_recv, out, 5), 4);  // two pairs
}

TEST(BenchRow, DerivesItsFigures) {
  distlab::bench::Run run;
  run.plan.ranks = 4;
  run.bandwidth = 16e9;
  Row row;
  row.bytes = 1'000'000;
  row.ours.median = 1e-3;
  EXPECT_DOUBLE_EQ(algbw(row), 1e9);
  EXPECT_DOUBLE_EQ(busbw(row, run), 1.5e9);
  EXPECT_EQ(ratio(row), 0) << "there is no peer";
  EXPECT_EQ(percent_of_limit(row), 0) << "there is no limit";
  row.peer = Times{3e-3, 3e-3, 3e-3};
  EXPECT_DOUBLE_EQ(ratio(row), 3);
  row.limit_s = limit_seconds(run, Form::in_place, row.bytes);
  EXPECT_DOUBLE_EQ(row.limit_s, 0.5e-3) << "2 n S / bandwidth";
  EXPECT_DOUBLE_EQ(percent_of_limit(row), 50);
  run.plan.collective = barrier;
  EXPECT_EQ(limit_seconds(run, Form::out_of_place, 0), 0);
  run.meeting = 2e-7;
  EXPECT_DOUBLE_EQ(limit_seconds(run, Form::out_of_place, 0), 2e-7);
  run.plan.collective = all_reduce;
  EXPECT_DOUBLE_EQ(limit_seconds(run, Form::in_place, 4), 2e-7) << "32 bytes take 2 ns";
  EXPECT_DOUBLE_EQ(limit_seconds(run, Form::in_place, row.bytes), 0.5e-3);
  run.plan.collective = broadcast;
  EXPECT_DOUBLE_EQ(limit_seconds(run, Form::in_place, 4), 1e-9) << "the root need not wait";
}

TEST(BenchStatistics, MedianAndGeometricMean) {
  EXPECT_DOUBLE_EQ(median({3}), 3);
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({9, 1, 5, 7}), 6);
  EXPECT_DOUBLE_EQ(median({2, 2, 2, 1000}), 2) << "one slow batch changes nothing";
  EXPECT_DOUBLE_EQ(geometric_mean({4}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5, 2, 1}), 1);
  const auto times = times_of({4, 1, 3, 2, 9});
  EXPECT_DOUBLE_EQ(times.median, 3);
  EXPECT_DOUBLE_EQ(times.least, 1);
  EXPECT_DOUBLE_EQ(times.most, 9);
}

TEST(BenchSizes, GrowByAFactorAndAreWholeShares) {
  EXPECT_EQ(sizes({4, 64, 4}, 4), (Sizes{4, 16, 64}));
  EXPECT_EQ(sizes({4, 63, 4}, 4), (Sizes{4, 16}));
  EXPECT_EQ(sizes({100, 100, 2}, 4), (Sizes{100}));
  EXPECT_EQ(sizes({4, 1024, 4}, 12), (Sizes{12, 60, 252, 1020})) << "three shares of f32; none twice";
  EXPECT_EQ(sizes({1, 8, 2}, 4), (Sizes{4, 8}));
  EXPECT_EQ(sizes({0, 16, 2}, 8).front(), 8);
  EXPECT_EQ(sizes({4, 1 << 20, 4}, 0), (Sizes{0})) << "a barrier has none";
  constexpr std::int64_t large = std::int64_t{16} << 30;
  EXPECT_EQ(sizes({large, large, 1 << 30}, 4), (Sizes{large})) << "no overflow";
}
