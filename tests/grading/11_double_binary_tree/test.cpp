// The grading of lab 11. Every rank is a process of its own in the grader's simulation. The grader chooses
// numbers and lengths at random, knows the expected results, and counts messages, bytes, rounds and time.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::one_sum, judge::Random, judge::worth;
using lab11::asked_of, lab11::Sum;

// ------------------------------------------------------------------------------------ part 1: the first tree

TEST(Part1FirstTree, powers_of_two) {
  worth(8, 1);
  lab11::expect_trees("first_tree", {1, 2, 4, 8, 16});
}

TEST(Part1FirstTree, any_number_of_ranks) {
  worth(10, 1);
  Random random("first trees");
  lab11::expect_trees("first_tree", {3, 5, 6, 7, 9, 10, 12, 33, random.between(11, 99)});
}

TEST(Part1FirstTree, a_thousand_ranks) {
  worth(4, 1);
  Random random("large first trees");
  lab11::expect_trees("first_tree", {1024, random.between(500, 1500)});
}

// ----------------------------------------------------------------------------------- part 2: the second tree

TEST(Part2SecondTree, even) {
  worth(10, 2);
  Random random("even");
  lab11::expect_trees("second_tree", {2, 4, 6, 8, 16, 2 * random.between(5, 50), 1024});
}

TEST(Part2SecondTree, odd) {
  worth(10, 2);
  Random random("odd");
  lab11::expect_trees("second_tree", {1, 3, 5, 7, 9, 2 * random.between(5, 50) + 1, 1023});
}

TEST(Part2SecondTree, inner_in_one_tree_only) {
  worth(8, 2);
  Random random("inner");
  lab11::expect_inner_in_one({2, 4, 6, 8, 2 * random.between(5, 50)});
}

// --------------------------------------------------------------------- part 3: double_tree_all_reduce

TEST(Part3AllReduce, any_number_of_ranks) {
  worth(12, 3);
  Random random("sum");
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    std::vector<Sum> sums;
    for (const int elements : {random.between(10, 30), 0, 1, 12})
      sums.push_back(one_sum(random, n, elements, 3));
    judge::expect_sums(asked_of(sums), n == 9);
    if (!HasFailure()) continue;
    lab11::diagnose_trees(n);
    return;
  }
}

TEST(Part3AllReduce, any_dtype) {
  worth(3, 3);
  Random random("sum dtypes");
  const int n = random.between(2, 5);
  judge::expect_sums(asked_of({judge::long_numbers(random, n, 7), judge::large_integers(random, n, 9)}));
}

TEST(Part3AllReduce, same_bits_on_all_ranks) {
  worth(5, 3);
  Random random("bits");
  Sum sum = judge::order_matters(random, random.between(5, 9), 24);
  sum.segment = 5;
  judge::expect_same_bits(asked_of({sum}));
}

TEST(Part3AllReduce, twice_the_data) {
  worth(11, 3);
  Random random("traffic");
  for (const int n : {random.between(7, 9), 4}) {
    lab11::expect_twice_the_data(asked_of({one_sum(random, n, 2 * 4 * random.between(3, 6), 4)}));
    if (HasFailure()) return;
    lab11::expect_each_half_on_its_tree(asked_of({one_sum(random, n, 2 * random.between(9, 20) + 1, 4)}));
    if (HasFailure()) return;
  }
}

TEST(Part3AllReduce, both_at_once) {
  worth(9, 3);
  Random random("rounds");
  for (const int n : {8, random.between(6, 9)}) {
    lab11::expect_both_at_once(asked_of({one_sum(random, n, 2 * 2 * random.between(30, 40), 2)}));
    if (HasFailure()) return;
  }
}

TEST(Part3AllReduce, faster_than_one_tree) {
  worth(5, 3);
  lab11::expect_faster_than_one_tree(asked_of({judge::large_sum(4, 4 << 20, 32 * 1024)}));
}

TEST(Part3AllReduce, large_worlds) {
  worth(5, 3);
  Random random("large worlds");
  lab11::expect_both_at_once(asked_of({one_sum(random, 9, 60, 3)}));
  for (const int n : {16, 33}) {
    if (HasFailure() || !judge::run_world(random, {"double_tree_all_reduce", n, 9, 2}).is_right) return;
  }
}

}  // namespace
