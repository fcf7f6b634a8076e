// Lab 08: random numbers and how they are distributed over the ranks.
#include "draw.h"

#include <algorithm>

namespace lab08::draw {

double eighths(judge::Random& random, double low, double high) {
  return random.between(static_cast<int>(low * 8), static_cast<int>(high * 8)) / 8.0;
}

namespace {

// Those of f64 have digits that an f32 cannot hold.
Reals numbers(judge::Random& random, int count, double low, double high, const std::string& dtype) {
  const auto rest = [&] { return dtype == "f64" ? random.between(1, 99) * 0x1p-34 : 0.0; };
  Reals drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(eighths(random, low, high) + rest());
  return drawn;
}

}  // namespace

Item row(judge::Random& random, const std::vector<int>& lengths, double center, const std::string& dtype) {
  Item item{dtype};
  for (const int length : lengths) item.of.push_back(numbers(random, length, center - 4, center + 4, dtype));
  return item;
}

Item same_lengths(judge::Random& random, int ranks, int elements, double center, const std::string& dtype) {
  return row(random, std::vector<int>(static_cast<std::size_t>(ranks), elements), center, dtype);
}

std::vector<int> uneven(judge::Random& random, int ranks) {
  std::vector<int> lengths;
  for (int rank = 0; rank < ranks; ++rank) lengths.push_back(1 + 2 * rank + random.between(0, 1));
  random.shuffle(lengths);
  return lengths;
}

Item weighted(judge::Random& random, int ranks, int elements, const std::string& dtype) {
  Item item = same_lengths(random, ranks, elements, 6, dtype);
  for (int rank = 0; rank < ranks; ++rank) item.weights.push_back(rank + 1.5 + random.between(0, 4) / 4.0);
  random.shuffle(item.weights);
  return item;
}

Item far_apart(judge::Random& random, int ranks, const std::string& dtype) {
  Item item = row(random, uneven(random, ranks), 0, dtype);
  for (std::size_t rank = 0; rank < item.of.size(); ++rank) {
    for (double& x : item.of[rank]) x += 3 * static_cast<double>(rank);
  }
  random.shuffle(item.of);
  return item;
}

Item scaled(Item item, double factor) {
  for (Reals& numbers : item.of)
    for (double& x : numbers) x *= factor;
  return item;
}

Item below_all(Item item) {
  for (Reals& numbers : item.of)
    for (double& x : numbers) x -= 1e12;
  return item;
}

Item far_below_all(Item item) {
  for (Reals& numbers : item.of) std::ranges::fill(numbers, -3e38);
  item.of.front().front() = -1e38;
  return item;
}

void mask(Reals& shard) { std::ranges::fill(shard, -infinity); }

Asked awkward_rows(judge::Random& random, const std::string& call) {
  Asked asked{call, {}};
  asked.items.push_back(row(random, {0, 3, 0, 2}));
  asked.items.push_back(row(random, {0, 0, 1, 0}, -60));
  asked.items.push_back(row(random, {0, 0, 0, 0}));
  return asked;
}

Asked masked_rows(judge::Random& random, const std::string& call) {
  Item some = row(random, {3, 2, 4}), rank_masked = row(random, {2, 3, 1}, -9), all = row(random, {2, 1, 2});
  some.of[0][1] = some.of[2][3] = -infinity;
  Reals& whole_shard = rank_masked.of[static_cast<std::size_t>(random.between(0, 2))];
  mask(whole_shard);
  for (auto& shard : all.of) mask(shard);
  return {call, {some, rank_masked, all}};
}

// The last row is not for f32: exp(600) fits into f64, so it distinguishes subtracting nothing from
// subtracting too much.
Asked stable_rows(judge::Random& random, const std::string& call) {
  const int n = random.between(3, 5);
  Item small = row(random, uneven(random, n)), smaller = row(random, uneven(random, n), 0, "f64");
  small.of[0][0] = -75, smaller.of[0][0] = -80;  // shares that are not zero yet
  return {call,
          {small, smaller, row(random, uneven(random, n), 1e4), row(random, uneven(random, n), -1e4),
           row(random, uneven(random, n), 1e4, "f64"), row(random, uneven(random, n), 600, "f64")}};
}

Item with_target(Item item, std::int64_t target) {
  item.target = target;
  return item;
}

}  // namespace lab08::draw
