// The grading of lab 06. Every rank is a process of its own in the grader's simulation. The grader chooses
// numbers, roots and lengths at random, knows the expected results, and counts messages, bytes, rounds and
// memory.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab06::Asked, lab06::shares, lab06::uneven;

constexpr int large = 2048;  // elements of a chunk in the tests that measure memory

// One call from each of these roots, of random length.
Asked from_roots(Random& random, const std::string& call, int n, const std::vector<int>& roots) {
  Asked asked{call, {}};
  for (const int root : roots) {
    const int k = random.between(2, 5);
    asked.rounds.push_back(call == "scatter_rows" ? uneven(random, n, root, n * k - 1, random.between(1, 3))
                                                  : shares(random, n, root, k));
  }
  return asked;
}

// All calls have the same size, so that a message of one fits into another one.
Asked of_one_size(Random& random, const std::string& call, int n) {
  Asked asked{call, {}};
  for (const int root : judge::roots_in_turn(random, n))
    asked.rounds.push_back(call == "scatter_rows" ? uneven(random, n, root, 2 * n, 2)
                                                  : shares(random, n, root, 3));
  return asked;
}

// First from root 0, then from all roots: a failure in the second part only has to do with the root. In the
// third part the calls overlap.
void expect_any_root(Random& random, const std::string& call, const std::vector<int>& sizes) {
  for (const int n : sizes) {
    lab06::expect_shares(from_roots(random, call, n, {0}));
    if (testing::Test::HasFailure()) return;
  }
  for (const int n : sizes) {
    lab06::expect_shares(from_roots(random, call, n, judge::shuffled_ranks(random, n)));
    if (testing::Test::HasFailure()) return lab06::root_0_assumed();
  }
  lab06::expect_calls_apart(random, of_one_size(random, call, random.between(4, 6)));
}

// One element, none, and a world of one rank.
void expect_awkward_lengths(Random& random, const std::string& call) {
  for (const int n : {1, random.between(2, 5)}) {
    Asked asked{call, {}};
    for (const int k : {1, 0, random.between(2, 9), 0, 1})
      asked.rounds.push_back(shares(random, n, random.between(0, n - 1), k));
    lab06::expect_shares(asked);
    if (testing::Test::HasFailure()) return;
  }
}

// One call with chunks of 8 KiB.
Asked a_large_one(Random& random, const std::string& call, int n) {
  return {call, {shares(random, n, random.between(0, n - 1), large)}};
}

// ----------------------------------------------------------------------------------------- part 1: scatter

TEST(Part1Scatter, every_root) {
  worth(9, 1);
  Random random("scatter");
  expect_any_root(random, "scatter", {2, random.between(3, 7)});
}

TEST(Part1Scatter, awkward_lengths) {
  worth(4, 1);
  Random random("scatter lengths");
  expect_awkward_lengths(random, "scatter");
}

TEST(Part1Scatter, only_its_own_chunk) {
  worth(8, 1);
  Random random("scatter memory");
  lab06::expect_only_shares(a_large_one(random, "scatter", random.between(4, 6)));
  if (!HasFailure()) lab06::expect_little_memory(random, "scatter");
}

// ------------------------------------------------------------------------------------------ part 2: gather

TEST(Part2Gather, every_root) {
  worth(7, 2);
  Random random("gather");
  expect_any_root(random, "gather", {2, random.between(3, 7)});
}

TEST(Part2Gather, awkward_lengths) {
  worth(3, 2);
  Random random("gather lengths");
  expect_awkward_lengths(random, "gather");
}

// The larger a rank's number, the sooner it arrives.
TEST(Part2Gather, in_rank_order) {
  worth(4, 2);
  Random random("gather order");
  const int n = random.between(4, 7);
  Asked asked{"gather", {shares(random, n, random.between(0, n - 1), 3)}};
  for (int rank = 0; rank < n; ++rank)
    asked.rounds[0].delays_us.push_back(100 * (n - rank) + random.between(0, 50));
  lab06::expect_shares(asked);
}

// One rank comes late, while the others are in their next call already.
TEST(Part2Gather, calls_do_not_mix) {
  worth(4, 2);
  Random random("gather twice");
  const int n = random.between(4, 6), root = random.between(0, n - 1);
  Asked asked{"gather", {shares(random, n, root, 3), shares(random, n, root, 3)}};
  for (int rank = 0; rank < n; ++rank) asked.rounds[0].delays_us.push_back(10 * rank);
  asked.rounds[0].delays_us[static_cast<std::size_t>((root + 1) % n)] = 10'000;
  lab06::expect_shares(asked);
}

TEST(Part2Gather, only_its_own_chunk) {
  worth(4, 2);
  Random random("gather memory");
  lab06::expect_only_shares(a_large_one(random, "gather", random.between(4, 6)));
  if (!HasFailure()) lab06::expect_little_memory(random, "gather");
}

// ------------------------------------------------------------------------------------ part 3: scatter_rows

TEST(Part3Rows, every_row) {
  worth(9, 3);
  Random random("rows");
  for (const int n : {4, random.between(5, 7), 3}) {
    const int root = random.between(0, n - 1), each = random.between(2, 4), more = n - 1;
    Asked asked{"scatter_rows", {}};
    for (const int rows : {n * each, n * each + more, n * each + 1})
      asked.rounds.push_back(uneven(random, n, root, rows, random.between(1, 4)));
    lab06::expect_shares(asked);
    if (HasFailure()) return;
  }
}

TEST(Part3Rows, few_rows) {
  worth(6, 3);
  Random random("few rows");
  for (const int n : {1, random.between(4, 7)}) {
    Asked asked{"scatter_rows", {}};
    for (const int rows : {1, 0, random.between(2, 3), n - 1, 0, n})
      asked.rounds.push_back(uneven(random, n, random.between(0, n - 1), rows, random.between(1, 3)));
    lab06::expect_shares(asked);
    if (HasFailure()) return;
  }
}

TEST(Part3Rows, every_root) {
  worth(5, 3);
  Random random("rows roots");
  expect_any_root(random, "scatter_rows", {3, random.between(4, 7)});
}

TEST(Part3Rows, only_its_part) {
  worth(7, 3);
  Random random("rows memory");
  const int n = random.between(4, 6);
  lab06::expect_only_shares(
      {"scatter_rows", {uneven(random, n, random.between(0, n - 1), n * large / 8 - 1, 8)}});
}

// ------------------------------------------------------------------------------------ part 4: tree_scatter

TEST(Part4Tree, powers_of_two) {
  worth(5, 4);
  Random random("tree");
  for (const int n : {2, 4, 8}) {
    lab06::expect_shares(from_roots(random, "tree_scatter", n, {0}));
    if (HasFailure()) return;
  }
}

TEST(Part4Tree, any_number_of_ranks) {
  worth(6, 4);
  Random random("tree sizes");
  lab06::expect_shares(from_roots(random, "tree_scatter", 4, {0}));
  if (HasFailure()) return;
  for (const int n : {3, random.between(5, 7), 9}) {
    lab06::expect_shares(from_roots(random, "tree_scatter", n, {0}));
    if (!HasFailure()) continue;
    return judge::misconception(
        "power_of_two_assumed",
        "4 ranks work, but a number of ranks that is not a power of two does not; fix: cut the last subtree "
        "off at n: it has fewer chunks, and some children do not exist");
  }
}

TEST(Part4Tree, any_root) {
  worth(6, 4);
  Random random("tree roots");
  expect_any_root(random, "tree_scatter", {4, 2 * random.between(1, 3) + 1});
}

TEST(Part4Tree, awkward_lengths) {
  worth(2, 4);
  Random random("tree lengths");
  expect_awkward_lengths(random, "tree_scatter");
}

TEST(Part4Tree, only_the_subtree) {
  worth(6, 4);
  Random random("tree traffic");
  for (const int n : {8, random.between(5, 7)}) {
    lab06::expect_only_the_subtree(a_large_one(random, "tree_scatter", n));
    if (HasFailure()) return;
  }
  lab06::expect_little_memory(random, "tree_scatter");
}

TEST(Part4Tree, few_rounds) {
  worth(5, 4);
  Random random("tree rounds");
  for (const int n : {8, 9, random.between(5, 7), 3}) {
    lab06::expect_few_rounds({"tree_scatter", {shares(random, n, random.between(0, n - 1), 3)}});
    if (HasFailure()) return;
  }
}

}  // namespace
