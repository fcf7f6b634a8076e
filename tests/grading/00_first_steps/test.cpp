// The grading of lab 00. Every rank is a process of its own in the grader's simulation. The first run of each
// test is the handout's example, so that a report can be compared with it; the others are random.
#include <fmt/format.h>
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
    lab00::expect_numbers("sum_of_all", ranks == 4 ? lab00::one_to(4) : lab00::small_numbers(random, ranks));
    if (HasFailure()) return;
  }
}

TEST(Part2Sum, with_one_all_reduce) {
  worth(10, 2);
  const auto done = lab00::expect_numbers("sum_of_all", lab00::one_to(4));
  for (int rank = 0; rank < 4 && !HasFailure(); ++rank) {
    const int calls = lab00::all_reduces(done, rank);
    if (calls == 1) continue;
    if (calls > 1)
      judge::misconception("more_than_one_all_reduce",
                           "each all_reduce waits for all ranks, so a second one doubles the time; fix: the "
                           "first one leaves the sum on every rank, so return it");
    ADD_FAILURE() << fmt::format("{}expected one call of all_reduce on rank {}; it made {}", done.about, rank,
                                 calls);
  }
}

TEST(Part3Mean, every_rank_has_the_mean) {
  worth(30, 3);
  Random random("mean");
  for (const int ranks : group_sizes(random)) {
    lab00::expect_numbers("mean_of_all", ranks == 4 ? lab00::one_to(4) : lab00::small_numbers(random, ranks));
    if (HasFailure()) return;
  }
}

}  // namespace
