// The grading of lab 09. Every rank is a process of its own in the grader's simulation. The grader chooses
// numbers and lengths at random, knows the expected results, and counts messages, bytes, steps, memory and
// time.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::expect_dtypes, judge::expect_sizes, judge::one_sum, judge::Random, judge::worth;
using lab09::asked_of, lab09::Sum, lab09::SumsAsked;

auto even_chunks(Random& random) {
  return [&random](int n) { return std::vector{n * random.between(2, 4)}; };
}
// Lengths that include some smaller than n, and 0.
auto awkward(Random& random) {
  return [&random](int n) { return std::vector{3 * n + random.between(1, n), 1, 0, n + 1}; };
}

// A program around the call has messages of its own.
void expect_apart(Random& random, const std::string& call, int segment = 1) {
  const int n = random.between(4, 6);
  const Sum sum = one_sum(random, n, 2 * n + random.between(0, n), segment);
  if (!testing::Test::HasFailure()) lab09::expect_apart(asked_of(call, {sum}));
}

// ---------------------------------------------------------------------------------- part 1: reduce_scatter

TEST(Part1ReduceScatter, small_rings) {
  worth(8, 1);
  Random random("scatter");
  expect_sizes(random, asked_of("reduce_scatter", {}), {3, 4, 2}, even_chunks(random));
}

TEST(Part1ReduceScatter, any_number_of_ranks) {
  worth(8, 1);
  Random random("scatter sizes");
  expect_sizes(random, asked_of("reduce_scatter", {}), {1, random.between(5, 7), random.between(8, 9)},
               awkward(random));
  if (!HasFailure()) expect_dtypes(random, asked_of("reduce_scatter", {}), random.between(2, 5));
  expect_apart(random, "reduce_scatter");
}

TEST(Part1ReduceScatter, one_chunk_a_step) {
  worth(8, 1);
  Random random("scatter traffic");
  const int n = random.between(4, 8);
  for (const int elements : {5 * n + random.between(1, n), n - random.between(1, 3)}) {
    lab09::expect_ring_traffic(asked_of("reduce_scatter", {one_sum(random, n, elements)}));
    if (HasFailure()) return;
  }
}

TEST(Part1ReduceScatter, one_chunk_of_scratch) {
  worth(5, 1);
  Random random("scatter memory");
  const int n = random.between(4, 8);
  const int elements = n * random.between(40, 60) + random.between(0, n - 1);
  lab09::expect_little_scratch(asked_of("reduce_scatter", {one_sum(random, n, elements)}));
}

// -------------------------------------------------------------------------------------- part 2: all_gather

TEST(Part2AllGather, small_rings) {
  worth(5, 2);
  Random random("gather");
  expect_sizes(random, asked_of("all_gather", {}), {3, 4, 2}, even_chunks(random));
}

TEST(Part2AllGather, any_number_of_ranks) {
  worth(6, 2);
  Random random("gather sizes");
  expect_sizes(random, asked_of("all_gather", {}), {1, random.between(5, 7), random.between(8, 9)},
               awkward(random));
  if (!HasFailure()) expect_dtypes(random, asked_of("all_gather", {}), random.between(2, 5));
  expect_apart(random, "all_gather");
}

TEST(Part2AllGather, one_chunk_a_step) {
  worth(6, 2);
  Random random("gather traffic");
  const int n = random.between(4, 8);
  for (const int elements : {5 * n + random.between(1, n), n - random.between(1, 3)}) {
    lab09::expect_ring_traffic(asked_of("all_gather", {one_sum(random, n, elements)}));
    if (HasFailure()) return;
  }
  lab09::expect_little_scratch(asked_of("all_gather", {one_sum(random, n, n * random.between(40, 60) + 1)}));
}

// -------------------------------------------------------------------------------------- part 3: all_reduce

TEST(Part3AllReduce, any_number_of_ranks) {
  worth(8, 3);
  Random random("sum");
  expect_sizes(random, asked_of("ring_all_reduce", {}), {1, 2, 3, 4, 5, 6, 7, 8, 9},
               [&](int n) { return std::vector{n * random.between(1, 3)}; });
}

TEST(Part3AllReduce, any_length) {
  worth(6, 3);
  Random random("sum lengths");
  expect_sizes(random, asked_of("ring_all_reduce", {}), {random.between(3, 5), random.between(6, 9)},
               awkward(random));
  expect_apart(random, "ring_all_reduce");
}

TEST(Part3AllReduce, any_dtype) {
  worth(3, 3);
  Random random("sum dtypes");
  expect_dtypes(random, asked_of("ring_all_reduce", {}), random.between(2, 5));
}

TEST(Part3AllReduce, same_bits_on_all_ranks) {
  worth(4, 3);
  Random random("bits");
  judge::expect_same_bits(
      asked_of("ring_all_reduce", {judge::order_matters(random, random.between(4, 9), 24)}));
}

TEST(Part3AllReduce, two_n_minus_1_over_n) {
  worth(8, 3);
  Random random("sum traffic");
  for (const int n : {random.between(5, 9), 2, 4}) {
    lab09::expect_ring_traffic(
        asked_of("ring_all_reduce", {one_sum(random, n, 4 * n + random.between(0, n))}));
    if (HasFailure()) return;
  }
  lab09::expect_little_scratch(asked_of("ring_all_reduce", {one_sum(random, 4, random.between(200, 203))}));
  if (!HasFailure()) lab09::expect_little_memory("ring_all_reduce");
}

// The grader routes the 2(n - 1) messages of each of n ranks, so its work grows as n^2.
TEST(Part3AllReduce, large_worlds) {
  worth(5, 3);
  Random random("large worlds");
  lab09::expect_ring_traffic(asked_of("ring_all_reduce", {one_sum(random, 9, random.between(20, 40))}));
  for (const int n : {16, 21}) {
    if (HasFailure()) return;
    if (!judge::run_world(random, {"ring_all_reduce", n, n + random.between(1, 40), 1, "rounds"}).is_right)
      return;
  }
}

// --------------------------------------------------------------------------------------- part 4: pipelined

TEST(Part4Pipelined, any_number_of_ranks) {
  worth(7, 4);
  Random random("segments");
  expect_sizes(
      random, asked_of("all_reduce_pipelined", {}), {1, 2, random.between(3, 4), random.between(5, 9)},
      [&](int n) {
        return std::vector{n * random.between(3, 5), 1, 0, 2 * n + 1, 9 * n - 1};
      },
      2);
  if (!HasFailure()) expect_dtypes(random, asked_of("all_reduce_pipelined", {}), random.between(2, 5), 2);
  expect_apart(random, "all_reduce_pipelined", 2);
}

TEST(Part4Pipelined, same_bits_on_all_ranks) {
  worth(2, 4);
  Random random("bits of segments");
  Sum sum = judge::order_matters(random, random.between(3, 7), 40);
  sum.segment = 2;
  judge::expect_same_bits(asked_of("all_reduce_pipelined", {sum}));
}

TEST(Part4Pipelined, one_segment_a_message) {
  worth(4, 4);
  Random random("traffic of segments");
  const int n = random.between(3, 6), k = random.between(3, 4), more = random.between(1, n - 1);
  const std::vector<std::pair<int, int>> elements_and_segments{
      {n * (5 * k + random.between(1, 2)) + more - 1, 5},  // pieces of 5 would leave a rest of at most 3
      {n * 4 * k + more, 4},                               // the longest chunk needs one more than the others
      {n * 12, 4},
      {2 * n + more, 1},  // a segment of the other chunks is empty
      {n * random.between(12, 20) + more, 100}};
  for (const auto& [elements, segment] : elements_and_segments) {
    lab09::expect_ring_traffic(asked_of("all_reduce_pipelined", {one_sum(random, n, elements, segment)}));
    if (HasFailure()) return;
  }
}

TEST(Part4Pipelined, two_segments_of_scratch) {
  worth(2, 4);
  Random random("memory of segments");
  const int n = random.between(3, 6);
  lab09::expect_little_scratch(
      asked_of("all_reduce_pipelined",
               {one_sum(random, n, n * random.between(120, 160) + random.between(0, n - 1), 20)}));
}

TEST(Part4Pipelined, hides_the_adding) {
  worth(5, 4);
  Random random("time of segments");
  const int n = random.between(4, 5), segments = random.between(4, 6);
  constexpr std::int64_t segment = 16 * 1024;
  lab09::expect_adding_is_hidden(
      asked_of("all_reduce_pipelined", {judge::large_sum(n, segment * segments * n, segment)}));
}

}  // namespace
