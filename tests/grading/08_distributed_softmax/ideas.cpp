// Lab 08: the wrong ideas of parts 1 and 5, and the search for the idea that fits the answers.
#include "ideas.h"

#include <algorithm>
#include <numeric>

namespace lab08 {
namespace {

const std::vector<Idea>& mean_ideas() {
  constexpr auto* not_divided =
      "this is the weighted sum, which is a mean only if the weights sum to 1; fix: divide by the sum of the "
      "weights over all ranks";
  constexpr auto* own_weights =
      "each rank divides by its own weight, so the weights cancel; fix: divide by the sum of the weights "
      "over all ranks";
  static const auto weighted = [](const Place& p) {
    return p.total([&](std::size_t r) { return p.item.weights[r] * p.item.of[r][p.i]; });
  };
  static const auto weights = [](const Place& p) {
    return p.total([&](std::size_t r) { return p.item.weights[r]; });
  };
  static const auto plain = [](const Place& p) {
    return p.total([&](std::size_t r) { return p.item.of[r][p.i]; });
  };
  static const std::vector<Idea> known{
      {"weights_not_summed", not_divided, [](const Place& p) { return weighted(p); }},
      {"divided_by_the_ranks",
       "the weighted sum is divided by the number of ranks, as if all weights were 1; fix: divide by the sum "
       "of the weights",
       [](const Place& p) { return weighted(p) / static_cast<double>(p.ranks()); }},
      {"weights_of_its_own", own_weights, [](const Place& p) { return plain(p); }},
      {"weights_of_its_own", own_weights, [](const Place& p) { return weighted(p) / p.weight(); }},
      {"weights_ignored",
       "this is the plain mean, which ignores the weights; fix: multiply each number by its weight, and "
       "divide by the sum of the weights",
       [](const Place& p) { return plain(p) / static_cast<double>(p.ranks()); }},
      {"own_numbers_only",
       "each rank has its own number times its fraction of the weights: nothing was summed over the ranks; "
       "fix: all_reduce the products",
       [](const Place& p) { return p.weight() * p.x() / weights(p); }}};
  return known;
}

const std::vector<Idea>& norm_ideas() {
  static const auto squares = [](const Place& p) {
    return p.total([&](std::size_t r) { return p.item.of[r][p.i] * p.item.of[r][p.i]; });
  };
  static const auto of_its_own = [](const Place& p) {
    const auto& own = p.item.of[p.rank];
    return p.x() / std::sqrt(std::inner_product(own.begin(), own.end(), own.begin(), 0.0));
  };
  static const std::vector<Idea> known{
      {"norm_of_its_own",
       "each rank divides by the norm of its own elements; fix: compute the norm over the ranks, for each "
       "element",
       of_its_own},
      {"root_before_the_sum",
       "the root was taken before the sum; the root of a square is the absolute value, so this divides by "
       "the sum of absolute values (the L1 norm); fix: sum the squares over the ranks, then take the root",
       [](const Place& p) {
         return p.x() / p.total([&](std::size_t r) { return std::abs(p.item.of[r][p.i]); });
       }},
      {"root_forgotten",
       "the numbers are divided by the sum of the squares; fix: divide by the square root of that sum",
       [](const Place& p) { return p.x() / squares(p); }},
      {"square_of_the_sum", "the numbers were summed and then squared; fix: square first, then sum",
       [](const Place& p) {
         return p.x() / std::abs(p.total([&](std::size_t r) { return p.item.of[r][p.i]; }));
       }},
      {"zero_by_zero",
       "if all ranks have 0, the norm is 0, and 0 / 0 is NaN; fix: leave elements with norm 0 unchanged",
       [](const Place& p) { return p.x() / std::sqrt(squares(p)); }},
      {"norm_returned", "this is the norm itself; fix: divide the numbers by it",
       [](const Place& p) { return std::sqrt(squares(p)); }}};
  return known;
}

// ----------------------------------------------------------------------------------------- cross_entropy

bool is_owner(const Place& p, std::size_t r) {
  const auto at = p.item.target - p.item.first(static_cast<int>(r));
  return at >= 0 && at < std::ssize(p.item.of[r]);
}

double logit(const Place& p) {
  return p.total([&](std::size_t r) {
    if (!is_owner(p, r)) return 0.0;
    return p.item.of[r][static_cast<std::size_t>(p.item.target - p.item.first(static_cast<int>(r)))];
  });
}

const std::vector<Idea>& loss_ideas() {
  constexpr auto* lost =
      "the target's logit is lost: all other ranks contribute 0, and MAX takes 0 rather than a negative "
      "logit; fix: use SUM, in which the other ranks' zeros change nothing";
  static const auto log_sum = [](const Place& p) { return std::log(p.all_exps(p.max())); };
  static const auto right = [](const Place& p) { return log_sum(p) + p.max() - logit(p); };
  static const std::vector<Idea> known{
      {"wrong_owner",
       "target is an index into the whole row, but it was used as an index into the shard; fix: use index "
       "target - first, on the rank where first <= target < first + numel",
       [](const Place& p) {
         const auto at = static_cast<std::size_t>(p.item.target);
         return log_sum(p) - p.total([&](std::size_t r) {
           return at < p.item.of[r].size() ? p.item.of[r][at] - p.max() : 0.0;
         });
       }},
      {"loss_of_the_owner_only",
       "only the rank that owns the target has the loss; fix: bring the target's logit to the other ranks, "
       "too",
       [](const Place& p) { return is_owner(p, p.rank) ? right(p) : log_sum(p); }},
      {"absent_logit_by_max", lost, [](const Place& p) { return log_sum(p); }},
      {"absent_logit_by_max", lost,
       [](const Place& p) { return log_sum(p) + p.max() - std::max(0.0, logit(p)); }},
      {"log_of_the_share",
       "the probability of an entry far below the largest one is 0 in its dtype, and -log(0) is infinite; "
       "fix: compute the difference log(sum) - (x - max), which needs no exp of x",
       [](const Place& p) { return -std::log(std::exp(logit(p) - p.max()) / p.all_exps(p.max())); }},
      {"max_subtracted_by_all",
       "every rank subtracts the max, also from the 0 that it contributes instead of the target's logit; "
       "fix: subtract it on the owner only",
       [](const Place& p) { return log_sum(p) - (logit(p) - static_cast<double>(p.ranks()) * p.max()); }},
      {"max_forgotten",
       "the sum is relative to the max, but the logit is not; fix: compute log(sum) + max - x, or log(sum) - "
       "(x - max)",
       [](const Place& p) { return log_sum(p) - logit(p); }},
      {"sum_of_the_shard",
       "this is computed from the sum of this rank's shard; fix: use the sum over the whole row",
       [](const Place& p) { return std::log(p.exps(p.rank, p.max())) + p.max() - logit(p); }},
      {"not_negated", "this is the log of the probability; fix: negate it",
       [](const Place& p) { return -right(p); }},
      {"max_starts_at_zero",
       "a rank without entries contributes 0 to the MAX, which is wrong if all logits are negative: exp of "
       "all of them may become 0; fix: contribute -inf, which is below every entry",
       [](const Place& p) {
         const double max = std::max(0.0, p.max());
         return std::log(p.all_exps(max)) + max - logit(p);
       }},
      {"no_max", no_max_in_words, [](const Place& p) { return std::log(p.all_exps(0)) - logit(p); }}};
  return known;
}

// ------------------------------------------------------------------------------------------------------

// Submissions that check for a division by 0 have 0 where others have NaN.
bool is_alike(double said, double got) {
  if (std::isnan(said) && got == 0) return true;
  if (std::isnan(said) || std::isnan(got)) return std::isnan(said) && std::isnan(got);
  if (std::isinf(said) || std::isinf(got)) return said == got;
  return std::abs(got - said) <= 1e-5 * std::abs(said) + 1e-37;
}

bool idea_fits(const Idea& idea, const Asked& asked, const std::vector<Results>& results) {
  for (std::size_t index = 0; index < results.size(); ++index) {
    for (std::size_t rank = 0; rank < results[index].size(); ++rank) {
      const auto& numbers = results[index][rank];
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!is_alike(idea.number({asked.call, asked.items[index], rank, i}), numbers[i])) return false;
      }
    }
  }
  return true;
}

std::vector<const std::vector<Idea>*> ideas_of(const std::string& call) {
  if (call == "weighted_mean") return {&mean_ideas()};
  if (call == "normalize") return {&norm_ideas()};
  if (call == "cross_entropy") return {&loss_ideas()};
  if (call == "softmax_in_one") return {&merge_ideas(), &max_ideas(), &sum_ideas()};
  return {&max_ideas(), &sum_ideas()};
}

// Far from every wrong idea and close to the right numbers: digits were lost.
bool have_lost_digits(const Asked& asked, const std::vector<Results>& results) {
  for (std::size_t index = 0; index < results.size(); ++index) {
    const auto right = expected(asked.call, asked.items[index]);
    for (std::size_t rank = 0; rank < right.size(); ++rank) {
      for (std::size_t i = 0; i < right[rank].size(); ++i) {
        const double got = results[index][rank][i], wanted = right[rank][i];
        const bool is_near =
            std::isfinite(wanted) && std::abs(got - wanted) <= 2e-3 * std::abs(wanted) + 1e-30;
        const bool is_lost = got == 0 && wanted != 0;  // whole
        if (is_lost || (wanted != got && !is_near)) return false;
      }
    }
  }
  return true;
}

// Every share is 0, although entries are finite.
bool are_all_masked(const Asked& asked, const std::vector<Results>& results) {
  const auto is_nothing = [](double x) { return x == 0; };
  if (!asked.call.starts_with("softmax")) return false;
  for (const Results& of_item : results)
    for (const auto& shares : of_item)
      if (!std::ranges::all_of(shares, is_nothing)) return false;
  return true;
}

}  // namespace

void diagnose(const Asked& asked, const std::vector<Results>& results) {
  if (are_all_masked(asked, results))
    return judge::misconception(
        "finite_entries_masked",
        "all probabilities are 0, as if every entry were masked; fix: an entry is masked if "
        "it is -inf, and no finite number is");
  if (have_lost_digits(asked, results)) {
    return judge::misconception(
        "digits_lost",
        "nearly right: digits were lost; either f64 went through f32 (the default dtype), or a large number "
        "was added before it was subtracted again; fix: compute x - max first, then exp or the sum");
  }
  for (const auto* ideas : ideas_of(asked.call)) {
    for (const auto& idea : *ideas) {
      if (idea_fits(idea, asked, results)) return judge::misconception(idea.name, idea.in_words);
    }
  }
}

}  // namespace lab08
