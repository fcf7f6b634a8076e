// Lab 08: the wrong ideas of a softmax.
#include <algorithm>
#include <numeric>

#include "ideas.h"

namespace lab08 {

const std::vector<Idea>& max_ideas() {
  static const std::vector<Idea> known{
      {"masked_is_nan",
       "where all entries are masked their max is -inf, and -inf - (-inf) is NaN, as is 0 / 0: the exp of a "
       "masked entry is 0, whatever the max is, and where the sum is 0 all shares are 0",
       [](const Place& p) { return p.share(p.max()); }},
      {"no_max", no_max_in_words, [](const Place& p) { return p.share(0); }},
      {"max_starts_at_zero",
       "the max starts at 0, and where all entries are negative it stays there: exp of all of them is 0, and "
       "0 / 0 is NaN. What loses against every entry is -inf",
       [](const Place& p) { return p.share(std::max(0.0, p.max())); }},
      {"maxima_added",
       "the ranks' maxima were added (SUM): anything may be subtracted from all entries, but only the "
       "largest "
       "entry leaves an exp of 1 among them; after this sum all of them are 0 or infinite. Say ReduceOp::max",
       [](const Place& p) { return p.share(p.total([&](std::size_t r) { return p.own_max(r); })); }},
      {"local_max",
       "each rank subtracts its own largest entry: the exps of different ranks are then relative to "
       "different "
       "numbers, and their sum has no meaning. All must subtract the same: the largest of the row",
       [](const Place& p) {
         return std::exp(p.x() - p.own_max(p.rank)) /
                p.total([&](std::size_t r) { return p.exps(r, p.own_max(r)); });
       }},
      {"sums_not_rescaled",
       "the ranks' sums are added as they are, but each is relative to the max of its own shard: sum * "
       "exp(own max - max of all) brings it to the common one",
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
      "the entries were summed and then came exp: exp(a + b) is exp(a) times exp(b), not the sum of the two. "
      "First exp, then the sum";
  static const std::vector<Idea> known{
      {"normalised_by_the_local_sum",
       "each rank divides by the sum of its own exps: the shares add up to 1 on each rank, and to n on all. "
       "The sum, too, goes over the whole row",
       [](const Place& p) { return std::exp(p.x() - p.max()) / p.exps(p.rank, p.max()); }},
      {"exp_of_a_sum", of_a_sum, [](const Place& p) { return std::exp(p.x()) / std::exp(all(p, 0)); }},
      {"exp_of_a_sum", of_a_sum,
       [](const Place& p) { return std::exp(p.x() - p.max()) / std::exp(all(p, p.max())); }},
      {"never_divided", "those are the exps: each is to be divided by the sum of all",
       [](const Place& p) { return std::exp(p.x() - p.max()); }},
      {"never_divided", "those are the exps: each is to be divided by the sum of all",
       [](const Place& p) { return std::exp(p.x()); }},
      {"along_the_wrong_axis",
       "that is the softmax of each rank's own elements: the shares of one rank add up to 1. Here the n "
       "elements i, one of each rank, belong together",
       [](const Place& p) {
         double sum = 0;
         for (const double y : p.item.of[p.rank]) sum += std::exp(y - p.own_max(p.rank));
         return std::exp(p.x() - p.own_max(p.rank)) / sum;
       }}};
  return known;
}

}  // namespace lab08
