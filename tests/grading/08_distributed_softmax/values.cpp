// Lab 08: what the ranks have after the calls.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab08 {
namespace {

using judge::misconception;

// What the rank contributed: the end of a message.
std::string given(const Asked& asked, std::size_t index, std::size_t rank) {
  const Item& item = asked.items[index];
  const auto numbers = text(item.of[rank]);
  if (item.weights.empty()) return "contributed " + numbers;
  return fmt::format("contributed {} with weight {:.9g}", numbers, item.weights[rank]);
}

// Whether all elements of one rank are right. Reports the first that is not.
bool rank_is_right(const Asked& asked, std::size_t index, std::size_t rank, const Reals& right,
                   const std::vector<Results>& got) {
  const Item& item = asked.items[index];
  const auto& numbers = got[index][rank];
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double allowed = tolerance(asked.call, item, rank, i, right[i]);
    if (is_near(right[i], numbers[i], allowed)) continue;
    diagnose(asked, got);
    ADD_FAILURE() << fmt::format(
        "{}: expected {} on rank {}; it has {} and {} (element {} is {} and not {}; rounding explains "
        "{:.1g})",
        asked.text(index), text(right), rank, text(numbers), given(asked, index, rank), i, text(numbers[i]),
        text(right[i]), allowed);
    return false;
  }
  return true;
}

// Recognizes the wrong idea that gives this pair.
void diagnose_merge(const Merging& merging, double max, double sum) {
  double largest = -infinity, maxima = 0, plain_sum = 0;
  for (const auto& [own_max, own_sum] : merging.pairs) {
    largest = std::max(largest, own_max);
    maxima += own_max;
    plain_sum += own_sum;
  }
  if (std::isnan(max) || std::isnan(sum)) {
    misconception("inf_minus_inf", inf_minus_inf_in_words);
  } else if (max != largest && std::abs(max - maxima) <= 1e-9 * std::abs(maxima)) {
    misconception("maxima_added", "the two maxima were added; fix: take the larger one");
  } else if (max != largest) {
    misconception("not_the_larger_max",
                  "this is not the max of both sets; fix: take the larger of the two maxima");
  } else if (std::abs(sum - plain_sum) <= 1e-9 * plain_sum) {
    misconception("sums_not_rescaled",
                  "the sums are added although each is relative to its own max; fix: multiply each sum by "
                  "exp(own max - new max) first");
  } else if (sum > plain_sum) {
    misconception("rescaled_upside_down",
                  "exp(new max - own max) makes the sum with the smaller max larger, finally infinite; fix: "
                  "use the factor exp(own max - new max), which is never more than 1");
  } else {
    misconception("one_side_rescaled",
                  "either side may have the smaller max; fix: multiply each sum by exp(own max - new max); "
                  "for the larger max this is exp(0) = 1");
  }
}

bool is_merged(const Merging& merging, const Reals& got) {
  double max = -infinity;
  for (const auto& pair : merging.pairs) max = std::max(max, pair.first);
  long double sum = 0;
  for (const auto& [own_max, own_sum] : merging.pairs) {
    if (own_max != -infinity) sum += own_sum * std::exp(static_cast<long double>(own_max) - max);
  }
  // One rounding per addend; the argument of each exp may be off by half an epsilon of its size at each of
  // its steps, and beyond 800 exp is 0 in any case.
  double spread = 0;
  for (const auto& pair : merging.pairs) {
    if (max - pair.first < 800) spread = std::max(spread, max - pair.first);
  }
  const double allowed = (4 * static_cast<double>(merging.pairs.size()) + spread) * 0x1p-52;
  const auto right = static_cast<double>(sum);
  if (got[0] == max && is_near(right, got[1], allowed * right)) return true;
  diagnose_merge(merging, got[0], got[1]);
  std::string pairs;
  for (const auto& [own_max, own_sum] : merging.pairs)
    pairs += (pairs.empty() ? "" : ", ") + text(Reals{own_max, own_sum});
  ADD_FAILURE() << fmt::format("merge of {}: expected {}; it returned {}", pairs, text(Reals{max, right}),
                               text(got));
  return false;
}

}  // namespace

bool all_are_right(const Asked& asked, const std::vector<Results>& got) {
  for (std::size_t index = 0; index < got.size(); ++index) {
    const auto right = expected(asked.call, asked.items[index]);
    for (std::size_t rank = 0; rank < right.size(); ++rank) {
      if (!rank_is_right(asked, index, rank, right[rank], got)) return false;
    }
  }
  return !got.empty();
}

void expect_right(const Asked& asked) { all_are_right(asked, results(asked, run(asked), any_collective())); }

void expect_same_bits(const Asked& asked) {
  const auto got = results(asked, run(asked), any_collective());
  if (!all_are_right(asked, got)) return;
  for (std::size_t index = 0; index < got.size(); ++index) {
    for (std::size_t rank = 1; rank < got[index].size(); ++rank) {
      const double first = got[index][0][0], other = got[index][rank][0];
      if (first == other) continue;
      misconception("each_rank_merges_in_its_own_order",
                    "rounding depends on the order: ranks that merge the same pairs beginning with their own "
                    "get different sums, and their probabilities do not fit together; fix: merge in the "
                    "order of the ranks, on all ranks");
      ADD_FAILURE() << fmt::format(
          "{}: entry 0 is {:.9g} on every rank; expected the same probability, bit for bit; it is {:.17g} on "
          "rank 0 and {:.17g} on rank {}",
          asked.text(index), asked.items[index].of[0][0], first, other, rank);
      return;
    }
  }
}

void expect_merged(const std::vector<Merging>& mergings) {
  Json task{{"call", "merge"}, {"items", Json::array()}};
  for (const auto& merging : mergings) {
    Json pairs = Json::array();
    for (const auto& [max, sum] : merging.pairs) pairs.push_back(travelling({max, sum}));
    task["items"].push_back({{"pairs", pairs}, {"order", merging.order}});
  }
  judge::SimPlan plan;
  plan.tasks = {task};
  plan.about = "merge";
  const auto replies = judge::simulate(plan).answers();
  if (replies.empty()) return;
  for (std::size_t i = 0; i < mergings.size(); ++i) {
    if (!is_merged(mergings[i], parsed(replies[0].at(i)))) return;
  }
}

}  // namespace lab08
