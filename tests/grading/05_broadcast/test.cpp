// The grading of lab 05. Every rank is a process of its own in the grader's simulation. The grader chooses
// numbers, roots and lengths at random, knows the expected results, and counts messages, bytes and rounds.
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab05::Asked, lab05::Round, lab05::round_of, lab05::Update;

// One broadcast from each of these roots, of random length.
Asked from_roots(Random& random, const std::string& call, int n, const std::vector<int>& roots) {
  Asked asked{call, {}};
  for (const int root : roots) {
    const int elements = random.between(2, 9);
    asked.rounds.push_back(round_of(random, n, root, elements, random.between(1, elements)));
  }
  return asked;
}

Asked one(Random& random, const std::string& call, int n, int root, int elements, int segment = 1) {
  return {call, {round_of(random, n, root, elements, segment)}};
}

// A failure in the second part comes from the root in some cases, and in others from the second call of a
// program.
void diagnose_root(const std::string& call, const std::vector<Round>& rounds) {
  for (auto round : rounds) {
    if (round.root == 0 || lab05::is_right(call, round)) continue;
    const int root = std::exchange(round.root, 0);
    if (!lab05::is_right(call, round)) return;
    return judge::misconception(
        "root_0_assumed",
        fmt::format("root 0 works and root {} does not; fix: count relative ranks from the root, (rank - "
                    "root + n) % n, and convert them back to ranks, (root + relative rank) % n",
                    root));
  }
}

// All calls have the same size, so that a message of one fits into another one.
Asked of_one_size(Random& random, const std::string& call, int n) {
  Asked asked{call, {}};
  for (const int root : judge::roots_in_turn(random, n))
    asked.rounds.push_back(round_of(random, n, root, 3, 2));
  return asked;
}

// A group of all ranks, the last one first; and one without rank 0 and one more rank, in any order.
void expect_any_group(Random& random, const std::string& call, int n) {
  Asked all = from_roots(random, call, n, {n - 1, 0});
  for (int rank = n; rank-- > 0;) all.group.push_back(rank);
  lab05::expect_in_a_group(all);
  if (testing::Test::HasFailure()) return;
  std::vector<int> some = judge::shuffled_ranks(random, n + 1);
  std::erase(some, 0);
  Asked part = from_roots(random, call, n + 2, some);
  part.group = some;
  lab05::expect_in_a_group(part);
}

// First from root 0, then from all roots.
void expect_any_root(Random& random, const std::string& call, const std::vector<int>& sizes) {
  for (const int n : sizes) {
    lab05::expect_broadcasts(from_roots(random, call, n, {0}));
    if (testing::Test::HasFailure()) return;
  }
  for (const int n : sizes) {
    const auto asked = from_roots(random, call, n, judge::shuffled_ranks(random, n));
    lab05::expect_broadcasts(asked);
    if (testing::Test::HasFailure()) return diagnose_root(call, asked.rounds);
  }
  if (testing::Test::HasFailure()) return;
  lab05::expect_calls_apart(random, of_one_size(random, call, random.between(4, 6)));
  if (testing::Test::HasFailure()) return;
  expect_any_group(random, call, sizes.back());
}

// No element, one element, and a world of one rank; other dtypes and shapes.
void expect_awkward_lengths(Random& random, const std::string& call) {
  for (const int n : {1, random.between(2, 5)}) {
    Asked asked{call, {}};
    for (const int elements : {1, 0, random.between(2, 9), 0, 1})
      asked.rounds.push_back(round_of(random, n, random.between(0, n - 1), elements, random.between(1, 4)));
    std::ranges::copy(lab05::other_tensors(random, n), std::back_inserter(asked.rounds));
    lab05::expect_broadcasts(asked);
    if (testing::Test::HasFailure()) return;
  }
}

// ---------------------------------------------------------------------------------- part 1: flat_broadcast

TEST(Part1Flat, every_root) {
  worth(8, 1);
  Random random("flat");
  expect_any_root(random, "flat_broadcast", {2, random.between(3, 7)});
}

TEST(Part1Flat, awkward_lengths) {
  worth(4, 1);
  Random random("flat lengths");
  expect_awkward_lengths(random, "flat_broadcast");
}

TEST(Part1Flat, only_the_root_sends) {
  worth(5, 1);
  Random random("flat rounds");
  const int n = random.between(4, 8);
  lab05::expect_root_sends_all(one(random, "flat_broadcast", n, random.between(0, n - 1), 3));
}

// ---------------------------------------------------------------------------------- part 2: tree_broadcast

TEST(Part2Tree, powers_of_two) {
  worth(6, 2);
  Random random("tree");
  for (const int n : {2, 4, 8}) {
    lab05::expect_broadcasts(from_roots(random, "tree_broadcast", n, {0}));
    if (HasFailure()) return;
  }
}

TEST(Part2Tree, any_number_of_ranks) {
  worth(7, 2);
  Random random("tree sizes");
  lab05::expect_broadcasts(from_roots(random, "tree_broadcast", 4, {0}));
  if (HasFailure()) return;
  for (const int n : {3, random.between(5, 7), 9}) {
    lab05::expect_broadcasts(from_roots(random, "tree_broadcast", n, {0}));
    if (!HasFailure()) continue;
    return judge::misconception(
        "power_of_two_assumed",
        "4 ranks work, but a number of ranks that is not a power of two does not; fix: send to relative rank "
        "v + distance only if it is below n, because the last children of some ranks do not exist");
  }
}

TEST(Part2Tree, any_root) {
  worth(8, 2);
  Random random("tree roots");
  expect_any_root(random, "tree_broadcast", {4, 2 * random.between(1, 3) + 1});
}

TEST(Part2Tree, awkward_lengths) {
  worth(3, 2);
  Random random("tree lengths");
  expect_awkward_lengths(random, "tree_broadcast");
}

TEST(Part2Tree, few_rounds) {
  worth(8, 2);
  Random random("tree rounds");
  for (const int n : {8, 9, random.between(5, 7), 3}) {
    lab05::expect_a_tree(one(random, "tree_broadcast", n, random.between(0, n - 1), 3));
    if (HasFailure()) return;
  }
}

// --------------------------------------------------------------------------------- part 3: chain_broadcast

TEST(Part3Chain, any_root) {
  worth(8, 3);
  Random random("chain");
  expect_any_root(random, "chain_broadcast", {2, random.between(3, 7)});
}

TEST(Part3Chain, awkward_segments) {
  worth(7, 3);
  Random random("chain segments");
  const int n = random.between(3, 5), root = random.between(0, n - 1);
  const std::vector<std::pair<int, int>> elements_and_segment{{6, 3}, {7, 3}, {5, 8}, {4, 1}, {1, 1}, {0, 2}};
  Asked asked{"chain_broadcast", {}};
  for (const auto& [elements, segment] : elements_and_segment)
    asked.rounds.push_back(round_of(random, n, root, elements, segment));
  std::ranges::copy(lab05::other_tensors(random, n, 4), std::back_inserter(asked.rounds));
  lab05::expect_broadcasts(asked);
  if (HasFailure()) return;
  lab05::expect_broadcasts({"chain_broadcast", {round_of(random, 1, 0, 5, 2), round_of(random, 1, 0, 0, 2)}});
}

TEST(Part3Chain, root_sends_it_once) {
  worth(6, 3);
  Random random("chain traffic");
  const int n = random.between(4, 8), most = random.between(3, 4);
  // A rest of 2, none, and fewer elements than a segment has.
  for (const auto& [elements, segment] : {std::pair{4 * most + 2, 4}, {3 * most, 3}, {2, 3}, {0, 3}}) {
    lab05::expect_a_chain(one(random, "chain_broadcast", n, random.between(0, n - 1), elements, segment));
    if (HasFailure()) return;
  }
}

TEST(Part3Chain, pipelined) {
  worth(7, 3);
  Random random("chain rounds");
  for (const int n : {2, random.between(4, 8)}) {
    const int segment = random.between(2, 4), elements = segment * random.between(6, 9) + 1;
    lab05::expect_pipelined(one(random, "chain_broadcast", n, random.between(0, n - 1), elements, segment));
    if (HasFailure()) return;
  }
}

// ---------------------------------------------------------------------------------- part 4: update_weights

TEST(Part4Update, servers_get_the_weights) {
  worth(9, 4);
  Random random("update");
  Update update{5, {0, 1}, {2, 3, 4}, {{{2, 3}}, {{4}}, {{5, 1}}, {{3}}}, random.between(9, 11)};
  for (const bool is_second : {false, true}) {
    update.is_second = is_second;
    lab05::expect_updated(random, update);
    if (HasFailure()) return;
  }
}

TEST(Part4Update, any_ranks_and_shapes) {
  worth(6, 4);
  Random random("update ranks");
  std::vector<int> ranks = judge::shuffled_ranks(random, 8);
  const int trainers = random.between(1, 3), servers = random.between(2, 4);
  const Update update{8,
                      {ranks.begin(), ranks.begin() + trainers},
                      {ranks.end() - servers, ranks.end()},
                      {{{0}}, {{2}}, {{}}, {{3, 7}}, {{0, 5}}, {{1}}, {{2, 2}}, {{4}}, {{3, 3}}, {{0}}},
                      8};
  lab05::expect_updated(random, update);
}

TEST(Part4Update, one_message_a_bucket) {
  worth(8, 4);
  Random random("update buckets");
  Update update{6, {3, 0}, {5, 2, 4, 1}, {}, 20};  // the trainer is neither the first nor the last rank
  for (int i = 0; i < 16; ++i) update.parameters.push_back({{random.between(1, 5), 2}});
  // The first is larger than a bucket, and no tensor follows the next: one that followed would be a bucket
  // without elements. Before them are two that fill a bucket exactly, and two that are too large by one row.
  update.parameters.insert(update.parameters.begin(), {{{6, 2}}, {{4, 2}}, {{6, 2}}, {{5, 2}}});
  update.parameters.insert(update.parameters.end(), {{{7, 3}}, {{0, 4}}});
  const auto done = lab05::expect_updated(random, update);
  if (HasFailure()) return;
  lab05::expect_buckets(done, update);
}

}  // namespace
