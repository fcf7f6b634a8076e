// The grading of lab 07. Every rank is a process of its own in the grader's simulation. The grader chooses
// numbers and lengths at random, knows the expected results, and counts messages, bytes and rounds.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using lab07::Asked, lab07::Item, lab07::Json, lab07::small_numbers;

// Calls of these lengths, one after another.
Asked of_lengths(Random& random, const std::string& call, int n, const std::vector<int>& lengths,
                 const std::string& dtype = "f32") {
  Asked asked{call, {}};
  for (const int elements : lengths) asked.items.push_back(small_numbers(random, n, elements, dtype));
  return asked;
}

Asked one(Random& random, const std::string& call, int n, int elements, const std::string& dtype = "f32") {
  return of_lengths(random, call, n, {elements}, dtype);
}

// Stops at the first failure.
template <class Make>
void for_sizes(const std::vector<int>& sizes, Make make) {
  for (const int n : sizes) {
    lab07::expect_right(make(n));
    if (testing::Test::HasFailure()) return;
  }
}

// Integers that f32 cannot hold, summed or not; f64 holds their sums.
Item long_numbers(Random& random, int n, int elements) {
  constexpr double leading = 1 << 30;
  Item item = small_numbers(random, n, elements, "f64");
  for (Json& numbers : item.of)
    for (Json& number : numbers) number = leading * number.get<double>() + 2 * random.between(0, 1 << 20) + 1;
  return item;
}

// Integers that f64 cannot hold, summed or not.
Item large_integers(Random& random, int n, int elements) {
  Item item{"i64"};
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  for (int rank = 0; rank < n; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i)
      numbers.push_back(limit + 2 * std::int64_t{random.between(0, 1 << 20)} + (rank == 0 ? 1 : 2));
    item.of.push_back(numbers);
  }
  return item;
}

// Between 1 and 10^7 in size, of both signs: their f32 sum depends on the order.
Item order_matters(Random& random, int n, int elements) {
  Item item{};
  for (int rank = 0; rank < n; ++rank) {
    Json numbers = Json::array();
    for (int i = 0; i < elements; ++i) {
      const double size = std::pow(10, random.between(0, 6)) * random.between(100, 999) / 97;
      numbers.push_back(static_cast<double>(static_cast<float>(random.between(0, 1) == 0 ? size : -size)));
    }
    item.of.push_back(numbers);
  }
  return item;
}

// {correct, seen} of each rank.
Asked shards(const std::vector<std::pair<std::int64_t, std::int64_t>>& counts) {
  Item item{"i64"};
  for (const auto& [correct, seen] : counts) item.of.push_back(Json::array({correct, seen}));
  return {"global_accuracy", {item}};
}

// -------------------------------------------------------------------------------------- part 1: all_gather

TEST(Part1AllGather, small_rings) {
  worth(6, 1);
  Random random("gather");
  for_sizes({2, 3, 4}, [&](int n) { return one(random, "all_gather", n, random.between(2, 5)); });
}

TEST(Part1AllGather, any_number_of_ranks) {
  worth(6, 1);
  Random random("gather sizes");
  for_sizes({1, random.between(5, 7), random.between(8, 9)}, [&](int n) {
    return of_lengths(random, "all_gather", n, {1, 0, random.between(2, 9), 1});
  });
  if (!HasFailure()) lab07::expect_apart(one(random, "all_gather", random.between(4, 6), 3));
}

TEST(Part1AllGather, any_dtype) {
  worth(4, 1);
  Random random("gather dtypes");
  const int n = random.between(3, 5);
  lab07::expect_right({"all_gather", {long_numbers(random, n, 3), large_integers(random, n, 2)}});
}

TEST(Part1AllGather, in_place) {
  worth(4, 1);
  Random random("gather in place");
  for (const int n : {random.between(3, 6), 1}) {
    Asked asked = of_lengths(random, "all_gather", n, {3, 1});
    for (auto& item : asked.items) item.view = true;
    lab07::expect_right(asked);
    if (HasFailure()) return;
  }
}

TEST(Part1AllGather, neighbours_only) {
  worth(6, 1);
  Random random("gather traffic");
  lab07::expect_ring_traffic(one(random, "all_gather", random.between(4, 8), random.between(2, 6)));
}

TEST(Part1AllGather, n_minus_1_rounds) {
  worth(4, 1);
  Random random("gather rounds");
  for (const int n : {random.between(2, 3) * 2, random.between(2, 4) * 2 + 1}) {
    lab07::expect_ring_rounds(one(random, "all_gather", n, 2));
    if (HasFailure()) return;
  }
}

// -------------------------------------------------------------------------------------- part 2: all_reduce

TEST(Part2AllReduce, powers_of_two) {
  worth(6, 2);
  Random random("sum");
  for_sizes({2, 4, 8}, [&](int n) { return one(random, "all_reduce_sum", n, random.between(2, 5)); });
}

TEST(Part2AllReduce, any_number_of_ranks) {
  worth(7, 2);
  Random random("sum sizes");
  for_sizes({1, 3, random.between(5, 7), 9}, [&](int n) {
    return of_lengths(random, "all_reduce_sum", n, {1, 0, random.between(2, 9), 1});
  });
  if (!HasFailure()) lab07::expect_right({"all_reduce_sum", {long_numbers(random, random.between(2, 5), 7)}});
  if (!HasFailure()) lab07::expect_apart(one(random, "all_reduce_sum", random.between(5, 7), 3));
}

TEST(Part2AllReduce, integers_stay_integers) {
  worth(6, 2);
  Random random("sum of integers");
  const int n = random.between(2, 6);
  lab07::expect_right(one(random, "all_reduce_sum", n, 3, "i64"));
  if (HasFailure()) return;
  lab07::expect_right({"all_reduce_sum", {large_integers(random, n, 4)}});
}

TEST(Part2AllReduce, same_bits_on_all_ranks) {
  worth(7, 2);
  Random random("bits");
  for (const int n : {4, random.between(5, 9)}) {
    lab07::expect_same_bits({"all_reduce_sum", {order_matters(random, n, 24)}});
    if (HasFailure()) return;
  }
}

TEST(Part2AllReduce, up_and_down_a_tree) {
  worth(6, 2);
  Random random("sum rounds");
  for (const int n : {8, 9, random.between(5, 7), 2}) {
    lab07::expect_reduce_and_broadcast(one(random, "all_reduce_sum", n, random.between(2, 5)));
    if (HasFailure()) return;
  }
}

// ---------------------------------------------------------------------------------- part 3: all_reduce_avg

TEST(Part3Average, means) {
  worth(6, 3);
  Random random("mean");
  for_sizes({random.between(3, 4), random.between(5, 8)}, [&](int n) {
    Asked asked = one(random, "all_reduce_avg", n, random.between(2, 5));
    asked.items.push_back(long_numbers(random, n, 7));
    return asked;
  });
}

TEST(Part3Average, awkward_sizes) {
  worth(3, 3);
  Random random("mean sizes");
  for_sizes({1, random.between(2, 5)}, [&](int n) {
    return of_lengths(random, "all_reduce_avg", n, {1, 0, random.between(2, 5)});
  });
}

TEST(Part3Average, same_bits_on_all_ranks) {
  worth(2, 3);
  Random random("mean bits");
  const auto item = order_matters(random, random.between(3, 7), 24);
  const Asked asked{"all_reduce_avg", {item}};
  lab07::expect_same_bits(asked);
}

TEST(Part3Average, integers_are_refused) {
  worth(4, 3);
  Random random("mean of integers");
  const int n = random.between(2, 5);
  // Also where there is nothing to send, or nothing to add up.
  for (const auto& [ranks, elements] : {std::pair{n, 2}, {n, 0}, {1, 2}}) {
    Asked asked = one(random, "all_reduce_avg", ranks, elements, "i64");
    asked.may_refuse = true;
    lab07::expect_refused(asked, true);
    if (HasFailure()) return;
  }
  lab07::expect_right(one(random, "all_reduce_avg", n, 2));  // and nothing else is refused
}

// --------------------------------------------------------------------------------- part 4: global_accuracy

TEST(Part4Accuracy, uneven_shards) {
  worth(9, 4);
  Random random("shards");
  const int small = random.between(5, 12), large = random.between(900, 1100);
  lab07::expect_right(shards({{small, small}, {random.between(0, 9), large}}));
  for (const int n : {3, random.between(5, 8)}) {
    if (HasFailure()) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> counts;
    for (int rank = 0; rank < n; ++rank) {
      const int seen = random.between(1, 40) * (1 + 50 * (rank % 2));
      counts.emplace_back(random.between(rank % 2 == 0 ? seen / 2 : 0, rank % 2 == 0 ? seen : seen / 4),
                          seen);
    }
    lab07::expect_right(shards(counts));
  }
}

TEST(Part4Accuracy, a_rank_without_samples) {
  worth(6, 4);
  Random random("no samples");
  const int seen = random.between(20, 30);
  lab07::expect_right(shards({{0, 0}, {random.between(1, 9), seen}, {0, 0}, {seen, seen}}));
  if (HasFailure()) return;
  lab07::expect_right(shards({{random.between(1, 9), seen}, {0, 0}, {0, 0}}));
}

TEST(Part4Accuracy, no_samples_at_all) {
  worth(3, 4);
  Random random("nothing");
  for (const int n : {random.between(2, 5), 1}) {
    Asked asked =
        shards(std::vector<std::pair<std::int64_t, std::int64_t>>(static_cast<std::size_t>(n), {0, 0}));
    asked.may_refuse = true;
    lab07::expect_refused(asked, false);
    if (HasFailure()) return;
  }
  Asked none_right = shards({{0, random.between(2, 9)}, {0, random.between(2, 9)}});
  none_right.may_refuse = true;
  lab07::expect_right(none_right);
  if (!HasFailure())
    lab07::expect_right(shards({{random.between(1, 4), 4}, {0, 9}}));  // 0 is not always right
}

TEST(Part4Accuracy, many_samples) {
  worth(3, 4);
  Random random("many");
  const std::int64_t seen = (std::int64_t{1} << 40) + 2 * std::int64_t{random.between(1, 1 << 20)} + 1;
  lab07::expect_right(shards({{seen / 3, seen}, {random.between(1, 99), 12345}, {7, 11}}));
}

TEST(Part4Accuracy, one_all_reduce) {
  worth(2, 4);
  Random random("one all_reduce");
  std::vector<std::pair<std::int64_t, std::int64_t>> counts;
  const int n = random.between(4, 7);
  for (int rank = 0; rank < n; ++rank) counts.emplace_back(random.between(1, 9), 10 + rank);
  lab07::expect_one_all_reduce(shards(counts));
}

}  // namespace
