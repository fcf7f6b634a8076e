// The grading of lab 18. Every rank is a process of its own in the grader's simulation. The grader plays the
// layers and the optimizer, chooses shapes and numbers at random, and sees what is sent, held and when.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab18;

// ------------------------------------------------------------------------------------------ part 1: ZeRO-1

TEST(Part1Zero, rows_of_a_rank) {
  worth(6, 1);
  Random random("rows");
  std::vector<std::vector<std::int64_t>> cases;
  const auto add = [&](std::int64_t rows, std::int64_t n) {
    for (std::int64_t rank = 0; rank < n; ++rank) cases.push_back({rows, rank, n});
  };
  add(6, 4);
  add(5, 4);
  add(1, 3);
  add(8, 2);
  for (int i = 0; i < 5; ++i) add(random.between(1, 40), random.between(1, 9));
  constexpr std::int64_t most_of_32_bits = (std::int64_t{1} << 31) - 1;
  for (const int bits : {0, 1, 9})
    add((most_of_32_bits << bits) + random.between(1, 40), random.between(2, 5));
  expect_rows(cases);
}

TEST(Part1Zero, all_ranks_are_updated) {
  worth(10, 1);
  Random random("zero");
  for (const int n : {4, random.between(2, 3), 1}) {
    expect_zero_step(random, n, {6, 3}, Look::values);
    if (HasFailure()) return;
    expect_zero_step(random, n, {random.between(1, 20)}, Look::values);
    if (HasFailure()) return;
    expect_zero_step(random, n, {random.between(1, 9), 2, 3}, Look::values);
    if (HasFailure()) return;
  }
}

TEST(Part1Zero, own_rows_only) {
  worth(4, 1);
  Random random("own rows");
  expect_zero_step(random, 4, {6, random.between(2, 5)}, Look::rows);
}

TEST(Part1Zero, one_reduce_scatter_one_all_gather) {
  worth(4, 1);
  Random random("zero traffic");
  expect_zero_step(random, random.between(2, 4), {random.between(5, 9), 4}, Look::traffic);
}

// ------------------------------------------------------------------------------------------ part 2: a unit

// A weight and a bias whose rows leave the last of four ranks with less than the others, or with nothing.
std::vector<Shape> draw_shapes(Random& random, std::int64_t rows) {
  return {{rows, random.between(2, 6)}, {rows}, {random.between(1, 9), 2, 3}};
}

TEST(Part2Unit, each_rank_keeps_its_rows) {
  worth(8, 2);
  Random random("make unit");
  for (const std::int64_t rows : {6, 5, 8}) {
    expect_unit(random, 4, draw_shapes(random, rows));
    if (HasFailure()) return;
  }
  expect_unit(random, random.between(1, 3), draw_shapes(random, 7));
  if (!HasFailure()) expect_unit(random, 2, {{2 * random.between(1, 4), 3}});
  if (!HasFailure()) expect_unit(random, 1, {{random.between(2, 5), 3}});
  if (!HasFailure()) expect_small_units(4);
}

TEST(Part2Unit, a_gather_gives_the_parameters) {
  worth(8, 2);
  Random random("gather");
  for (const std::int64_t rows : {6, 5, 8}) {
    expect_gathered(random, 4, draw_shapes(random, rows));
    if (HasFailure()) return;
  }
  expect_gathered(random, random.between(1, 3), draw_shapes(random, 7));
}

TEST(Part2Unit, a_reduction_gives_the_mean) {
  worth(8, 2);
  Random random("reduce");
  for (const std::int64_t rows : {6, 5, 8}) {
    expect_reduced(random, 4, draw_shapes(random, rows));
    if (HasFailure()) return;
  }
  expect_reduced(random, random.between(1, 3), draw_shapes(random, 7));
}

TEST(Part2Unit, one_collective_for_a_unit) {
  worth(4, 2);
  Random random("unit traffic");
  // Neither number of ranks divides the rows, so the padding shows.
  expect_unit_traffic(random, 4, draw_shapes(random, 6));
  if (!HasFailure()) expect_unit_traffic(random, 3, draw_shapes(random, 7));
}

// ---------------------------------------------------------------------------- part 3: forward and backward

std::vector<std::int64_t> draw_widths(Random& random, int units) {
  std::vector<std::int64_t> widths;
  for (int i = 0; i <= units; ++i) widths.push_back(random.between(1, 9));
  return widths;
}

TEST(Part3Passes, forward_as_on_one_rank) {
  worth(5, 3);
  Random random("forward");
  for (const int n : {4, random.between(2, 3), 1}) {
    expect_values(random, {"forward", draw_model(random, draw_widths(random, 3)), n});
    if (HasFailure()) return;
  }
}

TEST(Part3Passes, backward_as_on_one_rank) {
  worth(8, 3);
  Random random("backward");
  for (const int n : {4, random.between(2, 3), 1}) {
    expect_values(random, {"backward", draw_model(random, draw_widths(random, 3)), n});
    if (HasFailure()) return;
  }
}

TEST(Part3Passes, one_collective_per_unit) {
  worth(6, 3);
  Random random("collectives");
  for (const char* call : {"forward", "backward"}) {
    const int units = random.between(3, 5);
    expect_collectives(random, {call, draw_model(random, draw_widths(random, units)), random.between(2, 4)});
    if (HasFailure()) return;
  }
  expect_collectives(random, {.call = "backward",
                              .model = draw_model(random, draw_widths(random, 3)),
                              .n = random.between(2, 4),
                              .is_after_forward = true});
}

// All of one size.
constexpr int large_units = 8;
Model draw_large_model(Random& random) {
  return draw_model(random, std::vector<std::int64_t>(large_units + 1, 48));
}

TEST(Part3Passes, forward_holds_one_unit) {
  worth(4, 3);
  Random random("forward memory");
  expect_memory(random, {"forward", draw_large_model(random), 4});
  if (!HasFailure()) expect_process_memory(random, "forward");
}

TEST(Part3Passes, backward_holds_one_unit) {
  worth(5, 3);
  Random random("backward memory");
  expect_memory(random, {"backward", draw_large_model(random), 4});
  if (!HasFailure()) expect_process_memory(random, "backward");
}

// ------------------------------------------------------------------------------------- part 4: prefetching

TEST(Part4Prefetch, forward_hides_all_but_the_first_gather) {
  worth(7, 4);
  Random random("forward overlap");
  for (const int units : {1, 2}) {
    expect_values(random, {"prefetching_forward", draw_model(random, draw_widths(random, units)), 3});
    if (HasFailure()) return;
  }
  expect_overlap(random, {"prefetching_forward", draw_large_model(random), random.between(2, 4)}, 1.25);
}

TEST(Part4Prefetch, backward_hides_all_but_the_ends) {
  worth(8, 4);
  Random random("backward overlap");
  for (const int units : {1, 2}) {
    expect_values(random, {"prefetching_backward", draw_model(random, draw_widths(random, units)), 3});
    if (HasFailure()) return;
  }
  expect_collectives(random, {.call = "prefetching_backward",
                              .model = draw_model(random, draw_widths(random, 3)),
                              .n = 2,
                              .is_after_forward = true});
  if (HasFailure()) return;
  expect_overlap(random, {"prefetching_backward", draw_large_model(random), random.between(2, 4)}, 1.25);
}

TEST(Part4Prefetch, one_gather_ahead) {
  worth(5, 4);
  Random random("prefetch memory");
  for (const char* call : {"prefetching_forward", "prefetching_backward"}) {
    expect_memory(random, {call, draw_large_model(random), 4});
    if (!HasFailure()) expect_process_memory(random, call);
    if (HasFailure()) return;
  }
}

}  // namespace
