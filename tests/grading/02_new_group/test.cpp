// The grading of lab 02. Every rank is a process of its own in the grader's simulation. The grader chooses
// the numbers at random, computes the expected results, explains deadlocks, and sees which rank sends to
// which.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab02::Numbers, lab02::Shape;

int even_size(Random& random) { return 2 * random.between(2, 4); }
int odd_size(Random& random) { return 2 * random.between(2, 4) + 1; }

// These meshes are not square, so that swapped rows and columns are noticed.
Shape oblong(Random& random) {
  const std::vector<Shape> known{{2, 3}, {3, 2}, {2, 4}, {4, 2}};
  return known[static_cast<std::size_t>(random.between(0, 3))];
}

// ------------------------------------------------------------------------------------- part 1: make_halves

TEST(Part1Halves, even_world) {
  worth(9, 1);
  Random random("even");
  for (const int n : {2, even_size(random)}) {
    lab02::expect_halves(n);
    if (HasFailure()) return;
  }
}

TEST(Part1Halves, odd_world) {
  worth(8, 1);
  Random random("odd");
  for (const int n : {3, odd_size(random)}) {
    lab02::expect_halves(n);
    if (HasFailure()) return;
  }
}

// ---------------------------------------------------------------------------------------- part 2: half_sum

TEST(Part2HalfSum, sums_its_half) {
  worth(8, 2);
  Random random("half");
  for (const int n : {even_size(random), odd_size(random)}) {
    lab02::expect_half_sums(
        n, {lab02::small_numbers(random, n, 1, 50), lab02::small_numbers(random, n, -50, 50)});
    if (HasFailure()) return;
  }
}

TEST(Part2HalfSum, keeps_all_digits_and_stays_in_its_half) {
  worth(6, 2);
  Random random("within");
  const int n = odd_size(random);
  const auto run = lab02::expect_half_sums(n, {lab02::one_large_number(random, n)});
  if (HasFailure()) return;
  lab02::expect_no_message_leaves(run, "half", [&](int rank) { return rank < lab02::lower_size(n) ? 0 : 1; });
}

// --------------------------------------------------------------------------------------- part 3: both_sums

TEST(Part3BothSums, positive_sums) {
  worth(8, 3);
  Random random("positive");
  for (const int n : {even_size(random), odd_size(random)}) {
    lab02::expect_both_sums(
        n, {lab02::small_numbers(random, n, 1, 50), lab02::small_numbers(random, n, 51, 99)});
    if (HasFailure()) return;
  }
}

TEST(Part3BothSums, negative_sums) {
  worth(9, 3);
  Random random("negative");
  for (const int n : {2, odd_size(random)}) {
    const auto half = static_cast<std::ptrdiff_t>(lab02::lower_size(n));
    auto lower = lab02::small_numbers(random, n, -50, -1), upper = lab02::small_numbers(random, n, -50, -1);
    std::fill(lower.begin() + half, lower.end(), random.between(1, 50));
    std::fill(upper.begin(), upper.begin() + half, random.between(0, 50));
    Numbers lowest(lower.size(), 0.0);
    lowest.front() = lowest.back() = std::ldexp(-1, 1023);  // twice this number exceeds every double
    lab02::expect_both_sums(n, {lab02::small_numbers(random, n, -50, -1), lower, upper, lowest});
    if (HasFailure()) return;
  }
}

TEST(Part3BothSums, one_exchange_for_both) {
  worth(6, 3);
  Random random("exchange");
  const int n = even_size(random);
  const std::vector<Numbers> rounds{lab02::small_numbers(random, n, 1, 50),
                                    lab02::one_large_number(random, n)};
  const auto run = lab02::expect_both_sums(n, rounds);
  if (HasFailure()) return;
  lab02::expect_one_exchange_each(run, static_cast<int>(rounds.size()));
}

// --------------------------------------------------------------------------------------- part 4: make_mesh

TEST(Part4Mesh, rows_and_columns) {
  worth(10, 4);
  Random random("mesh");
  for (const auto& shape : {oblong(random), Shape{3, 3}}) {
    lab02::expect_mesh(shape);
    if (HasFailure()) return;
  }
}

TEST(Part4Mesh, one_row_one_column) {
  worth(4, 4);
  Random random("thin");
  const int n = random.between(3, 5);
  for (const auto& shape : {Shape{1, n}, Shape{n, 1}, Shape{1, 1}}) {
    lab02::expect_mesh(shape);
    if (HasFailure()) return;
  }
}

TEST(Part4Mesh, refuses_what_does_not_fit) {
  worth(6, 4);
  // Too small, too large, and wrong meshes whose product happens to be right.
  for (const auto& shape : {Shape{1, 3}, Shape{3, 2}, Shape{-2, -2}, Shape{0, 4}, Shape{4, 0}}) {
    lab02::expect_refused(4, shape);
    if (HasFailure()) return;
  }
  lab02::expect_mesh({2, 2});  // and nothing else is refused
}

// ------------------------------------------------------------- part 5: broadcast_in_row, slowest_in_column

TEST(Part5Ranks, broadcast_in_row) {
  worth(10, 5);
  Random random("broadcast");
  for (const auto& shape : {oblong(random), Shape{3, 3}}) {
    lab02::expect_broadcasts(random, shape);
    if (HasFailure()) return;
  }
}

TEST(Part5Ranks, slowest_in_column) {
  worth(10, 5);
  Random random("slowest");
  const auto shape = oblong(random);
  std::vector<Numbers> rounds;
  for (int round = 0; round < 4; ++round) {
    Numbers seconds;
    for (int rank = 0; rank < shape.ranks(); ++rank) seconds.push_back(0.1 + rank);
    random.shuffle(seconds);
    rounds.push_back(seconds);
  }
  for (auto& seconds : rounds.back()) seconds = 1000 + seconds * 1e-9;  // equal when rounded to f32
  lab02::expect_slowest(shape, rounds);
}

TEST(Part5Ranks, the_first_of_equally_slow_ones) {
  worth(6, 5);
  Random random("equal");
  const Shape shape{random.between(3, 4), 2};
  std::vector<Numbers> rounds{Numbers(static_cast<std::size_t>(shape.ranks()), 0.0)};
  for (int round = 0; round < 4; ++round) rounds.push_back(lab02::small_numbers(random, shape.ranks(), 1, 2));
  lab02::expect_slowest(shape, rounds);
}

}  // namespace
