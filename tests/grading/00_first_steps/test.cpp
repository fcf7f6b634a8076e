// The grading of lab 00. Every rank is a process of its own in the grader's simulation. The first run of each
// test is the handout's example, so that a report can be compared with it; the others are random.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;

// Four ranks, one rank, and another number of them.
std::vector<int> group_sizes(Random& random) { return {4, 1, random.between(5, 8)}; }

TEST(Part1Introduce, says_rank_and_world_size) {
  worth(30, 1);
  Random random("names");
  for (const int ranks : group_sizes(random)) {
    lab00::expect_names(ranks);
    if (HasFailure()) return;
  }
}

TEST(Part2Sum, every_rank_has_the_sum) {
  worth(30, 2);
  Random random("sum");
  for (const int ranks : group_sizes(random)) {
    const auto numbers = ranks == 4 ? lab00::one_to(4) : lab00::small_numbers(random, ranks);
    lab00::expect_numbers("sum_of_all", lab00::and_others_between(random, numbers));
    if (HasFailure()) return;
  }
}

TEST(Part2Sum, with_one_all_reduce) {
  worth(10, 2);
  lab00::expect_one_all_reduce("sum_of_all");
}

TEST(Part3Mean, every_rank_has_the_mean) {
  worth(20, 3);
  Random random("mean");
  for (const int ranks : group_sizes(random)) {
    const auto numbers = ranks == 4 ? lab00::one_to(4) : lab00::small_numbers(random, ranks);
    lab00::expect_numbers("mean_of_all", lab00::and_others_between(random, numbers));
    if (HasFailure()) return;
  }
}

TEST(Part3Mean, with_one_all_reduce) {
  worth(10, 3);
  lab00::expect_one_all_reduce("mean_of_all");
}

}  // namespace
