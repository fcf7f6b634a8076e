// Lab 08: the expected results, and how close to them an answer must be.
#include <algorithm>

#include "support.h"

namespace lab08 {
namespace {

using Real = long double;

// The entries over which a softmax runs, for entry i of a rank: those of all ranks at i, or the whole row.
Reals entries_beside(const std::string& call, const Item& item, std::size_t i) {
  Reals entries;
  for (const auto& shard : item.of) {
    if (call == "softmax_over_ranks") {
      entries.push_back(shard[i]);
    } else {
      entries.insert(entries.end(), shard.begin(), shard.end());
    }
  }
  return entries;
}

double max_of(const Reals& entries) {
  return entries.empty() ? -infinity : *std::ranges::max_element(entries);
}

Real shifted(double x, double max) { return x == -infinity ? 0 : std::exp(Real{x} - Real{max}); }

Real sum_of_exps(const Reals& entries) {
  const double max = max_of(entries);
  Real sum = 0;
  for (const double x : entries) sum += shifted(x, max);
  return sum;
}

double share_of(double x, const Reals& entries) {
  const Real sum = sum_of_exps(entries);
  return sum == 0 ? 0 : static_cast<double>(shifted(x, max_of(entries)) / sum);
}

double weighted_mean_at(const Item& item, std::size_t i) {
  Real total = 0, weights = 0;
  for (std::size_t rank = 0; rank < item.of.size(); ++rank) {
    total += Real{item.weights[rank]} * Real{item.of[rank][i]};
    weights += Real{item.weights[rank]};
  }
  return static_cast<double>(total / weights);
}

Real norm_at(const Item& item, std::size_t i) {
  Real squares = 0;
  for (const auto& numbers : item.of) squares += Real{numbers[i]} * Real{numbers[i]};
  return std::sqrt(squares);
}

double target_logit(const Item& item) {
  for (int rank = 0; rank < item.ranks(); ++rank) {
    const auto& shard = item.of[static_cast<std::size_t>(rank)];
    const auto at = item.target - item.first(rank);
    if (at >= 0 && at < std::ssize(shard)) return shard[static_cast<std::size_t>(at)];
  }
  return std::nan("");
}

double loss_of(const Item& item) {
  const auto entries = entries_beside("cross_entropy", item, 0);
  return static_cast<double>(std::log(sum_of_exps(entries)) -
                             (Real{target_logit(item)} - Real{max_of(entries)}));
}

double value_at(const std::string& call, const Item& item, std::size_t rank, std::size_t i) {
  const double x = item.of[rank][i];
  if (call == "weighted_mean") return weighted_mean_at(item, i);
  if (call == "normalize") {
    const Real norm = norm_at(item, i);
    return norm == 0 ? 0 : static_cast<double>(Real{x} / norm);
  }
  return share_of(x, entries_beside(call, item, i));
}

}  // namespace

Results expected(const std::string& call, const Item& item) {
  if (call == "cross_entropy") return Results(item.of.size(), Reals{loss_of(item)});
  Results right(item.of.size());
  for (std::size_t rank = 0; rank < item.of.size(); ++rank) {
    for (std::size_t i = 0; i < item.of[rank].size(); ++i)
      right[rank].push_back(value_at(call, item, rank, i));
  }
  return right;
}

// Each rounding is at most half an epsilon and is counted as a whole one. A sum of m terms has m - 1
// roundings in any order; exp multiplies the rounding of its argument by |x - max|; a few more are for
// products, quotients, exp and log themselves. Below the smallest normal number nothing is exact. In f64 a
// loss may be the difference of two numbers as large as the logits: max + log(sum) - x.
double tolerance(const std::string& call, const Item& item, std::size_t rank, std::size_t i, double right) {
  constexpr double a_few = 6;
  const double epsilon = item.epsilon(), tiny = item.dtype == "f32" ? 0x1p-126 : 0x1p-1022;
  if (call == "weighted_mean") {
    Item sizes = item;
    for (auto& numbers : sizes.of) numbers[i] = std::abs(numbers[i]);
    return (item.ranks() + a_few) * epsilon * weighted_mean_at(sizes, i);
  }
  if (call == "normalize") return (item.ranks() + a_few) * epsilon * std::abs(right);
  const auto entries = entries_beside(call, item, i);
  const double max = max_of(entries), terms = static_cast<double>(entries.size()) + a_few;
  if (call == "cross_entropy")
    return (terms + std::abs(right) + (item.dtype == "f64" ? 2 * std::abs(max) : 0)) * epsilon;
  if (right == 0) return tiny;
  return (terms + (max - item.of[rank][i])) * epsilon * right + tiny;
}

bool is_near(double right, double got, double tolerance) {
  if (std::isinf(right)) return got == right;
  return std::abs(got - right) <= tolerance;
}

}  // namespace lab08
