// The grading of lab 10. Every rank is a process of its own in the grader's simulation. The grader chooses
// numbers and lengths at random, knows the expected results, and counts messages and rounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::expect_dtypes, judge::expect_sizes, judge::one_sum, judge::Random, judge::worth;
using lab10::asked_of, lab10::Sum;

// ------------------------------------------------------------------------------------ part 1: tree_place

TEST(Part1Place, full_trees) {
  worth(6, 1);
  lab10::expect_trees({1, 3, 7, 15});
}

TEST(Part1Place, any_number_of_ranks) {
  worth(8, 1);
  Random random("places");
  lab10::expect_trees({2, 4, 5, 6, 8, 9, 16, 33, random.between(10, 99)});
}

TEST(Part1Place, a_thousand_ranks) {
  worth(8, 1);
  Random random("many places");
  lab10::expect_trees({1024, random.between(500, 1500)});
}

// -------------------------------------------------------------------------------- part 2: reduce_to_root

TEST(Part2Reduce, any_number_of_ranks) {
  worth(8, 2);
  Random random("reduce");
  expect_sizes(random, asked_of("reduce_to_root", {}), {2, 3, 1, random.between(4, 6), random.between(7, 9)},
               [&](int) {
                 return std::vector{random.between(2, 9), 1, 0};
               });
  if (!HasFailure()) expect_dtypes(random, asked_of("reduce_to_root", {}), random.between(2, 5));
  // Calls in a row, in which a rank may be ahead of others.
  const int n = random.between(5, 9);
  std::vector<Sum> sums;
  for (int i = 0; i < 6; ++i) sums.push_back(one_sum(random, n, 3));
  if (!HasFailure()) lab10::expect_apart(random, asked_of("reduce_to_root", sums));
}

TEST(Part2Reduce, once_up_each_link) {
  worth(6, 2);
  Random random("reduce traffic");
  lab10::expect_tree_traffic(asked_of("reduce_to_root", {one_sum(random, random.between(9, 12), 5)}));
}

TEST(Part2Reduce, few_rounds) {
  worth(4, 2);
  Random random("reduce rounds");
  for (const int n : {8, random.between(5, 9)}) {
    lab10::expect_few_rounds(asked_of("reduce_to_root", {one_sum(random, n, 3)}));
    if (HasFailure()) return;
  }
}

// ------------------------------------------------------------------------------- part 3: tree_all_reduce

TEST(Part3AllReduce, any_number_of_ranks) {
  worth(8, 3);
  Random random("sum");
  expect_sizes(random, asked_of("tree_all_reduce", {}), {1, 2, 3, 4, 5, 6, 7, 8, 9}, [&](int) {
    return std::vector{random.between(2, 9), 0, 1};
  });
}

TEST(Part3AllReduce, any_dtype) {
  worth(3, 3);
  Random random("sum dtypes");
  expect_dtypes(random, asked_of("tree_all_reduce", {}), random.between(2, 5));
}

TEST(Part3AllReduce, same_bits_on_all_ranks) {
  worth(5, 3);
  Random random("bits");
  judge::expect_same_bits(
      asked_of("tree_all_reduce", {judge::order_matters(random, random.between(5, 9), 24)}));
}

TEST(Part3AllReduce, once_up_once_down) {
  worth(8, 3);
  Random random("sum traffic");
  for (const int n : {random.between(9, 12), 4}) {
    lab10::expect_tree_traffic(asked_of("tree_all_reduce", {one_sum(random, n, 16)}));
    if (HasFailure()) return;
  }
}

TEST(Part3AllReduce, few_rounds) {
  worth(5, 3);
  Random random("sum rounds");
  for (const int n : {16, random.between(5, 9)}) {
    lab10::expect_few_rounds(asked_of("tree_all_reduce", {one_sum(random, n, 3)}));
    if (HasFailure()) return;
  }
}

// 8 bytes, for which a ring would take the time of 2(n - 1) messages.
TEST(Part3AllReduce, beats_the_ring) {
  worth(6, 3);
  Random random("large worlds");
  lab10::expect_few_rounds(asked_of("tree_all_reduce", {one_sum(random, 9, 2)}));
  for (const int n : {16, 33, 64}) {
    if (HasFailure()) return;
    const auto world = judge::run_world(random, {"tree_all_reduce", n, 2});
    if (!world.is_right) return;
    constexpr double overhead_us = 0.5, latency_us = 0.5;  // a laptop's
    const double ring_us = 2 * (n - 1) * (overhead_us + latency_us), took_us = world.virtual_time_s * 1e6;
    const double limit_us = 4 * lab10::ceil_log2(n) * (overhead_us + latency_us);
    if (took_us <= limit_us) continue;
    ADD_FAILURE() << fmt::format(
        "{} ranks, 8 bytes: the call took {:.1f} us of virtual time; expected at most the time of four "
        "messages per level, {:.1f} us (a ring takes {:.1f} us)",
        n, took_us, limit_us, ring_us);
  }
}

// ---------------------------------------------------------------------------------------- part 4: pipelined

TEST(Part4Pipelined, any_number_of_ranks) {
  worth(8, 4);
  Random random("segments");
  expect_sizes(
      random, asked_of("tree_all_reduce_pipelined", {}),
      {1, 2, 3, random.between(4, 6), random.between(7, 9)},
      [&](int) {
        return std::vector{3 * random.between(2, 5) + 1, 1, 0, 12, 3};
      },
      3);
  if (!HasFailure())
    expect_dtypes(random, asked_of("tree_all_reduce_pipelined", {}), random.between(2, 5), 3);
}

TEST(Part4Pipelined, same_bits_on_all_ranks) {
  worth(2, 4);
  Random random("bits of segments");
  Sum sum = judge::order_matters(random, random.between(5, 8), 40);
  sum.segment = 3;
  judge::expect_same_bits(asked_of("tree_all_reduce_pipelined", {sum}));
}

TEST(Part4Pipelined, each_segment_once_up_once_down) {
  worth(6, 4);
  Random random("traffic of segments");
  lab10::expect_tree_traffic(asked_of("tree_all_reduce_pipelined",
                                      {one_sum(random, random.between(5, 9), 4 * random.between(4, 8), 4)}));
}

TEST(Part4Pipelined, up_and_down_at_once) {
  worth(9, 4);
  Random random("rounds of segments");
  for (const int n : {9, random.between(6, 8)}) {
    lab10::expect_few_rounds(
        asked_of("tree_all_reduce_pipelined", {one_sum(random, n, 2 * random.between(40, 50), 2)}));
    if (HasFailure()) return;
  }
}

}  // namespace
