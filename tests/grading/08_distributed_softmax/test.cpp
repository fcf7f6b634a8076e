// The grading of lab 08. Every rank is a process of its own in the grader's simulation. The grader chooses
// the numbers and their distribution over the ranks at random, computes the expected results, and sees which
// collectives are called.
#include <gtest/gtest.h>

#include "draw.h"
#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab08::Asked, lab08::infinity, lab08::Item, lab08::Merging, lab08::Rows;
using namespace lab08::draw;

// --------------------------------------------------------------------- part 1: weighted_mean and normalize

TEST(Part1OverRanks, weighted_mean) {
  worth(5, 1);
  Random random("weighted mean");
  for (const int n : {2, random.between(3, 6)}) {
    lab08::expect_right({"weighted_mean", {weighted(random, n, 3), weighted(random, n, 2, "f64")}});
    if (HasFailure()) return;
  }
}

TEST(Part1OverRanks, normalize) {
  worth(5, 1);
  Random random("normalize");
  for (const int n : {2, random.between(3, 6)}) {
    lab08::expect_right({"normalize", {same_lengths(random, n, 3), same_lengths(random, n, 2, 5, "f64")}});
    if (HasFailure()) return;
  }
}

TEST(Part1OverRanks, awkward_sizes_and_zeros) {
  worth(3, 1);
  Random random("awkward over ranks");
  const int n = random.between(2, 5);
  Item zeros = same_lengths(random, n, 3, 6), light = weighted(random, n, 2), nothing{"f32", Rows(n)};
  for (auto& data : zeros.of) data[1] = 0;
  light.weights[0] = 0;
  const Item tiny = scaled(same_lengths(random, n, 3, 6, "f64"), 0x1p-60),
             small = scaled(same_lengths(random, n, 3, 6), 0x1p-50);
  lab08::expect_right({"normalize", {zeros, nothing, tiny, small}});
  if (HasFailure()) return;
  nothing.weights = light.weights;
  lab08::expect_right({"weighted_mean", {light, nothing}});
  if (HasFailure()) return;
  lab08::expect_right({"weighted_mean", {weighted(random, 1, 3)}});
}

TEST(Part1OverRanks, one_all_reduce) {
  worth(3, 1);
  Random random("one all_reduce");
  const int n = random.between(3, 6), k = random.between(4, 9);
  const auto bytes = 8 * static_cast<std::uint64_t>(k);
  lab08::expect_exchange({"weighted_mean", {weighted(random, n, k)}},
                         {"all_reduce", 1, bytes + 8, "one all_reduce of k + 1 numbers"});
  if (HasFailure()) return;
  lab08::expect_exchange({"normalize", {same_lengths(random, n, k, 6)}},
                         {"all_reduce", 1, bytes, "one all_reduce of k numbers"});
}

// ---------------------------------------------------------------------------- part 2: softmax_over_ranks

TEST(Part2OverRanks, probabilities) {
  worth(6, 2);
  Random random("shares");
  for (const int n : {2, random.between(3, 6)}) {
    lab08::expect_right(
        {"softmax_over_ranks",
         {same_lengths(random, n, random.between(3, 5)), same_lengths(random, n, 2, 3, "f64")}});
    if (HasFailure()) return;
  }
}

TEST(Part2OverRanks, stable_at_1e4) {
  worth(6, 2);
  Random random("stable shares");
  const int n = random.between(3, 5);
  lab08::expect_right({"softmax_over_ranks",
                       {same_lengths(random, n, 3, 1e4), same_lengths(random, n, 3, -1e4),
                        same_lengths(random, n, 2, 1e4, "f64"), same_lengths(random, n, 2, 600, "f64")}});
  if (!HasFailure())
    lab08::expect_right({"softmax_over_ranks", {below_all(same_lengths(random, n, 2, 0, "f64"))}});
  if (!HasFailure()) lab08::expect_right({"softmax_over_ranks", {far_below_all(same_lengths(random, n, 2))}});
}

TEST(Part2OverRanks, masked_entries_and_awkward_sizes) {
  worth(2, 2);
  Random random("masked shares");
  const int n = random.between(2, 5);
  Item some = same_lengths(random, n, 4), nothing{"f32", Rows(n)};
  for (auto& data : some.of) data[2] = -infinity;
  some.of[0][0] = -infinity;
  lab08::expect_right({"softmax_over_ranks", {some, nothing}});
  if (HasFailure()) return;
  lab08::expect_right({"softmax_over_ranks", {same_lengths(random, 1, 3, 1e4)}});
}

TEST(Part2OverRanks, two_all_reduces) {
  worth(4, 2);
  Random random("two all_reduces");
  const int n = random.between(3, 6), k = random.between(5, 9);
  lab08::expect_exchange(
      {"softmax_over_ranks", {same_lengths(random, n, k)}},
      {"all_reduce", 2, 8 * static_cast<std::uint64_t>(k), "two all_reduces of k numbers each"});
}

// -------------------------------------------------------------------------------- part 3: softmax_of_row

TEST(Part3Row, uneven_shards) {
  worth(8, 3);
  Random random("row");
  for (const int n : {2, random.between(3, 6), 1}) {
    lab08::expect_right({"softmax_of_row", {far_apart(random, n), far_apart(random, n, "f64")}});
    if (HasFailure()) return;
  }
}

TEST(Part3Row, stable_at_1e4) {
  worth(7, 3);
  Random random("stable row");
  lab08::expect_right(stable_rows(random, "softmax_of_row"));
  if (!HasFailure())
    lab08::expect_right({"softmax_of_row", {below_all(row(random, uneven(random, 3), 0, "f64"))}});
  if (!HasFailure()) lab08::expect_right({"softmax_of_row", {far_below_all(row(random, uneven(random, 3)))}});
}

TEST(Part3Row, empty_shards) {
  worth(5, 3);
  Random random("empty shards");
  lab08::expect_right(awkward_rows(random, "softmax_of_row"));
}

TEST(Part3Row, masked_entries) {
  worth(5, 3);
  Random random("masked row");
  lab08::expect_right(masked_rows(random, "softmax_of_row"));
}

TEST(Part3Row, two_small_all_reduces) {
  worth(5, 3);
  Random random("two small ones");
  lab08::expect_exchange({"softmax_of_row", {row(random, {300, 7, 120, random.between(20, 90)})}},
                         {"all_reduce", 2, 16, "two all_reduces of one or two numbers each"});
}

// ---------------------------------------------------------------------- part 4: merge and softmax_in_one

TEST(Part4Merge, two_pairs) {
  worth(5, 4);
  Random random("pairs");
  std::vector<Merging> mergings;
  for (const double difference : {0.0, 1.5, -2.25, 30.0, -30.0, 2e4, -2e4}) {
    const double max = eighths(random, -9, 9);
    mergings.push_back(
        {{{max, 1 + random.between(1, 40) / 16.0}, {max + difference, 1 + random.between(1, 40) / 16.0}},
         {0}});
  }
  lab08::expect_merged(mergings);
}

TEST(Part4Merge, minus_infinity_is_neutral) {
  worth(3, 4);
  Random random("neutral");
  const std::pair<double, double> nothing{-infinity, 0},
      pair{eighths(random, -9, 9), 1 + random.between(1, 40) / 16.0};
  lab08::expect_merged({{{nothing, pair}, {0}}, {{pair, nothing}, {0}}, {{nothing, nothing}, {0}}});
}

TEST(Part4Merge, in_any_order) {
  worth(3, 4);
  Random random("orders");
  std::vector<std::pair<double, double>> pairs;
  for (int i = 0; i < 6; ++i) pairs.emplace_back(eighths(random, -5, 5), 1 + random.between(0, 40) / 16.0);
  pairs[static_cast<std::size_t>(random.between(0, 5))] = {-infinity, 0};
  lab08::expect_merged({{pairs, {0, 0, 0, 0, 0}}, {pairs, {4, 3, 2, 1, 0}}, {pairs, {0, 1, 2, 0, 0}}});
}

TEST(Part4InOne, any_row) {
  worth(5, 4);
  Random random("in one");
  for (const int n : {2, random.between(3, 6), 1}) {
    lab08::expect_right({"softmax_in_one", {far_apart(random, n), far_apart(random, n, "f64")}});
    if (HasFailure()) return;
  }
  for (const auto& asked : {stable_rows(random, "softmax_in_one"), awkward_rows(random, "softmax_in_one"),
                            masked_rows(random, "softmax_in_one")}) {
    lab08::expect_right(asked);
    if (HasFailure()) return;
  }
}

TEST(Part4InOne, one_small_all_gather) {
  worth(3, 4);
  Random random("one small one");
  lab08::expect_exchange({"softmax_in_one", {row(random, {300, 7, 120, random.between(20, 90)})}},
                         {"all_gather", 1, 16, "one all_gather of two numbers per rank"});
}

TEST(Part4InOne, same_bits_on_all_ranks) {
  worth(3, 4);
  Random random("bits");
  Asked asked{"softmax_in_one", {}};
  const int n = random.between(5, 7);
  for (int i = 0; i < 24; ++i) {
    Item item = row(random, uneven(random, n), 0, "f64");
    for (auto& shard : item.of) shard[0] = 4;
    asked.items.push_back(item);
  }
  lab08::expect_same_bits(asked);
}

// --------------------------------------------------------------------------------- part 5: cross_entropy

TEST(Part5Loss, whoever_has_the_target) {
  worth(6, 5);
  Random random("targets");
  for (const int n : {2, random.between(3, 5)}) {
    Asked asked{"cross_entropy", {}};
    const Item item = far_apart(random, n);
    for (int rank = 0; rank < n; ++rank) {
      const auto length = static_cast<std::int64_t>(item.of[static_cast<std::size_t>(rank)].size());
      asked.items.push_back(with_target(item, item.first(rank)));
      asked.items.push_back(with_target(item, item.first(rank) + length - 1));
    }
    lab08::expect_right(asked);
    if (HasFailure()) return;
  }
}

TEST(Part5Loss, exact_where_the_probability_is_0) {
  worth(4, 5);
  Random random("losses");
  Item high = row(random, {3, 2, 4}, 1e4), low = row(random, {2, 3, 3}, -1e4);
  high.of[1][1] = eighths(random, 8e3, 9e3);
  low.of[2][0] -= 2000;
  Item other = high;
  other.dtype = "f64";
  lab08::expect_right({"cross_entropy", {with_target(high, 4), with_target(low, 5), with_target(other, 4)}});
}

TEST(Part5Loss, empty_shards_and_masked_entries) {
  worth(2, 5);
  Random random("awkward losses");
  Item item = row(random, {0, 3, 0, 2, 2});
  item.of[1][0] = -infinity;
  mask(item.of[4]);
  const Item low = row(random, {0, 2, 0, 1, 3}, -1e4);
  lab08::expect_right(
      {"cross_entropy",
       {with_target(item, 1), with_target(item, 3), with_target(item, 0), with_target(low, 2)}});
}

TEST(Part5Loss, two_small_all_reduces) {
  worth(2, 5);
  Random random("traffic of the loss");
  const Item item = row(random, {300, 7, 120, random.between(20, 90)});
  lab08::expect_exchange({"cross_entropy", {with_target(item, random.between(0, 400))}},
                         {"all_reduce", 2, 16, "two all_reduces of one or two numbers each"});
}

}  // namespace
