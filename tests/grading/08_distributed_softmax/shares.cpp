// Lab 08: the wrong ideas of a softmax.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ideas.h"

namespace lab08 {

const std::vector<Idea>& merge_ideas() {
  static const auto merged = [](const Place& p) {
    for (std::size_t r = 0; r < p.ranks(); ++r)
      if (p.own_max(r) == -infinity) return std::numeric_limits<double>::quiet_NaN();
    return p.share(p.max());
  };
  static const std::vector<Idea> known{{"inf_minus_inf", inf_minus_inf_in_words, merged}};
  return known;
}

const std::vector<Idea>& max_ideas() {
  static const std::vector<Idea> known{
      {"masked_is_nan",
       "if all entries are masked their max is -inf, and -inf - (-inf) is NaN, as is 0 / 0; fix: take 0 as "
       "the exp of a masked entry, whatever the max is, and 0 as every probability if the sum is 0",
       [](const Place& p) { return p.share(p.max()); }},
      {"max_starts_too_high",
       "the max starts at a number such as -1e30 and stays there if all entries are lower: exp of all of "
       "them "
       "is 0, and 0 / 0 is NaN; fix: start at -inf, which is below every entry",
       [](const Place& p) { return p.share(std::max(-1e30, p.max())); }},
      {"no_max", no_max_in_words, [](const Place& p) { return p.share(0); }},
      {"max_starts_at_zero",
       "the max starts at 0 and stays there if all entries are negative: exp of all of them may become 0, "
       "and 0 / 0 is NaN; fix: start at -inf, which is below every entry",
       [](const Place& p) { return p.share(std::max(0.0, p.max())); }},
      {"maxima_added",
       "the ranks' maxima were added (SUM), and with the sum subtracted all exps may become 0 or infinite; "
       "fix: use ReduceOp::max: with the largest entry subtracted, the largest exp is 1",
       [](const Place& p) { return p.share(p.total([&](std::size_t r) { return p.own_max(r); })); }},
      {"local_max",
       "each rank subtracts its own largest entry, so the exps of different ranks are relative to different "
       "numbers, and their sum has no meaning; fix: subtract the largest entry of the row on all ranks",
       [](const Place& p) {
         return std::exp(p.x() - p.own_max(p.rank)) /
                p.total([&](std::size_t r) { return p.exps(r, p.own_max(r)); });
       }},
      {"sums_not_rescaled",
       "the ranks' sums are added although each is relative to the max of its own shard; fix: multiply each "
       "sum by exp(own max - max of all) first",
       [](const Place& p) {
         return std::exp(p.x() - p.max()) / p.total([&](std::size_t r) { return p.exps(r, p.own_max(r)); });
       }}};
  return known;
}

const std::vector<Idea>& sum_ideas() {
  static const auto all = [](const Place& p, double subtracted) {
    return p.total([&](std::size_t r) {
      const auto part = p.part(r);
      return std::accumulate(part.begin(), part.end(), 0.0) - subtracted * static_cast<double>(part.size());
    });
  };
  constexpr auto* of_a_sum =
      "the entries were summed before exp: exp(a + b) is exp(a) times exp(b), not their sum; fix: compute "
      "first exp, then the sum";
  static const std::vector<Idea> known{
      {"normalised_by_the_local_sum",
       "each rank divides by the sum of its own exps, so the probabilities sum to 1 on each rank and to n "
       "over all ranks; fix: divide by the sum over the whole row",
       [](const Place& p) { return std::exp(p.x() - p.max()) / p.exps(p.rank, p.max()); }},
      {"exp_of_a_sum", of_a_sum, [](const Place& p) { return std::exp(p.x()) / std::exp(all(p, 0)); }},
      {"exp_of_a_sum", of_a_sum,
       [](const Place& p) { return std::exp(p.x() - p.max()) / std::exp(all(p, p.max())); }},
      {"never_divided", "these are the exps; fix: divide each by the sum of all",
       [](const Place& p) { return std::exp(p.x() - p.max()); }},
      {"never_divided", "these are the exps; fix: divide each by the sum of all",
       [](const Place& p) { return std::exp(p.x()); }},
      {"along_the_wrong_axis",
       "this is the softmax of each rank's own elements: the probabilities of one rank sum to 1; fix: "
       "compute the softmax over the n elements i, one per rank",
       [](const Place& p) {
         double sum = 0;
         for (const double y : p.item.of[p.rank]) sum += std::exp(y - p.own_max(p.rank));
         return std::exp(p.x() - p.own_max(p.rank)) / sum;
       }}};
  return known;
}

}  // namespace lab08
