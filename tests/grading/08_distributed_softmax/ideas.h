// Lab 08: what the ranks would have if a wrong idea were right, computed with the infinities and NaNs that
// the idea itself runs into.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "support.h"

namespace lab08 {

// One number of the answer of `rank`: element i.
struct Place {
  const std::string& call;
  const Item& item;
  std::size_t rank, i;

  bool is_over_ranks() const { return call == "softmax_over_ranks"; }
  std::size_t ranks() const { return item.of.size(); }
  double x() const { return item.of[rank][i]; }
  double weight() const { return item.weights[rank]; }
  // The entries of rank r over which the softmax runs.
  Reals part(std::size_t r) const { return is_over_ranks() ? Reals{item.of[r][i]} : item.of[r]; }
  double own_max(std::size_t r) const {
    double max = -infinity;
    for (const double y : part(r)) max = std::max(max, y);
    return max;
  }
  double max() const {
    double max = -infinity;
    for (std::size_t r = 0; r < ranks(); ++r) max = std::max(max, own_max(r));
    return max;
  }
  double exps(std::size_t r, double subtracted) const {
    double sum = 0;
    for (const double y : part(r)) sum += y == -infinity ? 0 : std::exp(y - subtracted);
    return sum;
  }
  // The sum over the ranks.
  double total(const std::function<double(std::size_t r)>& of_rank) const {
    double sum = 0;
    for (std::size_t r = 0; r < ranks(); ++r) sum += of_rank(r);
    return sum;
  }
  double all_exps(double subtracted) const {
    return total([&](std::size_t r) { return exps(r, subtracted); });
  }
  double share(double subtracted) const { return std::exp(x() - subtracted) / all_exps(subtracted); }
};

struct Idea {
  const char* name;
  const char* in_words;
  std::function<double(const Place&)> number;
};

inline constexpr const char* no_max_in_words =
    "exp(10000) is infinite and exp(-10000) is 0, in f32 and in f64, so inf / inf or 0 / 0 gives NaN; fix: "
    "subtract the largest entry from all of them: the probabilities stay the same, and no exp is larger than "
    "1";

// For softmax_in_one: what is merged.
const std::vector<Idea>& merge_ideas();
// For parts 2 to 4: what is subtracted, and what is summed.
const std::vector<Idea>& max_ideas();
const std::vector<Idea>& sum_ideas();

}  // namespace lab08
