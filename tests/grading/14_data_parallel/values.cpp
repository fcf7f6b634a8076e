// Lab 14, parts 1 to 3: the values in a list of tensors.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab14 {
namespace {

using judge::misconception;

double total(const std::vector<std::int64_t>& samples) {
  return static_cast<double>(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}));
}

// The sum over the ranks, each times its weight, divided.
Numbers weighted(const Asked& asked, const Numbers& weights, double divisor) {
  Numbers sum(asked.form.elements(), 0);
  for (std::size_t rank = 0; rank < asked.numbers.size(); ++rank)
    for (std::size_t i = 0; weights[rank] != 0 && i < sum.size(); ++i)
      sum[i] += weights[rank] * asked.numbers[rank][i] / divisor;
  return sum;
}

Numbers each(const Asked& asked, double weight) { return Numbers(asked.numbers.size(), weight); }
Numbers as_numbers(const std::vector<std::int64_t>& samples) { return {samples.begin(), samples.end()}; }

// 1 for the ranks that have samples.
Numbers who_has(const Asked& asked) {
  Numbers has;
  for (const auto samples : asked.samples) has.push_back(samples > 0 ? 1 : 0);
  return has;
}

Numbers right(const Asked& asked) {
  const auto n = static_cast<double>(asked.numbers.size());
  if (asked.call == "broadcast_weights") return asked.numbers[0];
  if (asked.call == "average_gradients") return weighted(asked, each(asked, 1), n);
  return weighted(asked, as_numbers(asked.samples), total(asked.samples));
}

constexpr const char* not_in_place_in_words =
    "a new tensor replaced the caller's: layers and optimizers still hold the old one and do not see the "
    "result; fix: write into the caller's tensor with copy_, mul_, div_ or zero_";

struct ListIdea {
  const char *name, *in_words;
  Numbers (*numbers)(const Asked& asked, std::size_t rank);
};

const std::vector<ListIdea>& ideas_on(const std::string& call) {
  static const ListIdea own{"every_rank_keeps_its_own",
                            "nothing was exchanged, so the rank has its own values; fix: call the "
                            "collective, and write its result into the tensors of the list",
                            [](const Asked& a, std::size_t rank) { return a.numbers[rank]; }};
  static const ListIdea sum{
      "sums_without_averaging",
      "this is the sum, with which the step would be n times too large; fix: divide, or use ReduceOp::avg",
      [](const Asked& a, std::size_t) { return weighted(a, each(a, 1), 1); }};
  static const ListIdea twice{"divides_twice",
                              "the sum is divided twice; fix: do not divide after ReduceOp::avg",
                              [](const Asked& a, std::size_t) {
                                const auto n = static_cast<double>(a.numbers.size());
                                return weighted(a, each(a, 1), n * n);
                              }};
  static const ListIdea first_only{"first_tensor_only",
                                   "only the first tensor was sent; fix: send all tensors of the list",
                                   [](const Asked& a, std::size_t rank) {
                                     const Form first{{a.form.shapes[0]}, a.form.dtype};
                                     Numbers mixed = a.numbers[rank];
                                     std::copy_n(a.numbers[0].begin(), first.elements(), mixed.begin());
                                     return mixed;
                                   }};
  static const ListIdea mean{
      "means_in_place_of_rank_0",
      "this is the mean of all ranks' first weights; fix: begin with rank 0's weights on all ranks",
      [](const Asked& a, std::size_t) {
        return weighted(a, each(a, 1), static_cast<double>(a.numbers.size()));
      }};
  static const ListIdea plain{"mean_of_the_ranks_means",
                              "every rank counts the same, however many samples it has, so a sample on a "
                              "rank with few samples weighs more; fix: add up sums and counts, not means",
                              [](const Asked& a, std::size_t) {
                                return weighted(a, who_has(a), static_cast<double>(a.numbers.size()));
                              }};
  static const ListIdea by_ranks{"divides_by_the_ranks",
                                 "the sum over samples was divided by the number of ranks; fix: divide it by "
                                 "the number of samples of all ranks",
                                 [](const Asked& a, std::size_t) {
                                   return weighted(a, as_numbers(a.samples),
                                                   static_cast<double>(a.numbers.size()));
                                 }};
  static const ListIdea busy{"mean_of_the_ranks_means",
                             "every rank that has samples counts the same, however many it has; fix: add up "
                             "sums and counts, not means",
                             [](const Asked& a, std::size_t) {
                               const auto has = who_has(a);
                               return weighted(a, has, std::accumulate(has.begin(), has.end(), 0.0));
                             }};
  static const ListIdea integers{"integer_division",
                                 "each rank counts samples / total times, rounded down: the quotient of two "
                                 "integers is an integer, here "
                                 "0 or 1; fix: divide by a double",
                                 [](const Asked& a, std::size_t) {
                                   Numbers parts;
                                   for (const double samples : as_numbers(a.samples))
                                     parts.push_back(samples == total(a.samples) ? 1 : 0);
                                   return weighted(a, parts, 1);
                                 }};
  static const std::vector<ListIdea> broadcast{own, first_only, mean}, average{own, sum, twice},
      over_samples{plain, busy, by_ranks, own, integers};
  if (call == "broadcast_weights") return broadcast;
  return call == "average_gradients" ? average : over_samples;
}

bool is_in_place(const Json& reply) { return reply.at("same_memory"); }

void diagnose(const Asked& asked, const std::vector<Json>& replies) {
  if (!std::ranges::all_of(replies, is_in_place)) return misconception("not_in_place", not_in_place_in_words);
  for (const ListIdea& idea : ideas_on(asked.call)) {
    bool fits = true;
    for (std::size_t rank = 0; rank < replies.size(); ++rank)
      fits = fits && distance(idea.numbers(asked, rank), numbers_of(replies[rank])) < 1e-6;
    if (fits) return misconception(idea.name, idea.in_words);
  }
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (std::ranges::any_of(numbers_of(replies[0]), is_nan))
    misconception("zero_times_nan",
                  "the mean over 0 samples is 0 / 0, which is NaN, and 0 * NaN is NaN, not 0; fix: "
                  "contribute zeros on a rank without samples (zero_())");
}

// Calls with other numbers, by other ranks, and then with other shapes.
std::vector<Asked> others(Asked asked) {
  for (auto& numbers : asked.numbers)
    for (double& number : numbers) number = 2 * number + 1;
  std::ranges::reverse(asked.numbers);
  std::ranges::reverse(asked.samples);
  for (auto& samples : asked.samples) samples += samples > 0 ? 3 : 0;
  Asked smaller = asked;
  smaller.form.shapes = {{2}, {1, 1}};
  for (auto& numbers : smaller.numbers) numbers.resize(smaller.form.elements(), 1);
  return {asked, smaller};
}

}  // namespace

Asked draw_broadcast(judge::Random& random, int ranks, const Form& form) {
  return {"broadcast_weights", form, draw_numbers(random, ranks, form)};
}

Asked draw_average(judge::Random& random, int ranks, const Form& form) {
  return {"average_gradients", form, draw_numbers(random, ranks, form)};
}

Asked draw_over_samples(judge::Random& random, const std::vector<std::int64_t>& samples, const Form& form) {
  Asked asked{"average_over_samples", form, draw_numbers(random, static_cast<int>(samples.size()), form),
              samples};
  for (std::size_t rank = 0; rank < samples.size(); ++rank)
    if (samples[rank] == 0) asked.numbers[rank].assign(form.elements(), std::nan(""));
  return asked;
}

Asked draw_with_zeros(judge::Random& random, int ranks, const Form& form) {
  Asked asked = draw_average(random, ranks, form);
  const std::size_t first = Form{{form.shapes.front()}, form.dtype}.elements(),
                    last = Form{{form.shapes.back()}, form.dtype}.elements();
  for (auto& numbers : asked.numbers) std::fill_n(numbers.begin(), first, 0);
  std::fill_n(asked.numbers.back().rbegin(), last, 0);
  return asked;
}

void expect_right(const Asked& asked) {
  const auto replies = answers(run(asked));
  const auto expected = right(asked);
  const auto samples =
      asked.samples.empty() ? "" : fmt::format(", {} samples", fmt::join(asked.samples, ", "));
  const auto about = fmt::format("{} on {} ranks{}, {} tensors of {}", asked.call, asked.ranks(), samples,
                                 asked.form.shapes.size(), asked.form.dtype);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const auto got = numbers_of(replies[rank]);
    if (distance(expected, got) < tolerance(asked.form)) continue;
    if (!diagnose_dtype(asked.form, expected, replies)) diagnose(asked, replies);
    ADD_FAILURE() << about << ": " << difference(rank, expected, got);
    return;
  }
  if (!replies.empty()) expect_the_same_after_calls(about, asked.form, expected, run(asked, others(asked)));
}

void expect_in_place(const Asked& asked) {
  const auto replies = answers(run(asked));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (is_in_place(replies[rank])) continue;
    misconception("not_in_place", not_in_place_in_words);
    ADD_FAILURE() << fmt::format(
        "{}: afterwards a tensor of rank {} is not in the memory that the caller gave; expected that memory, "
        "written in place",
        asked.call, rank);
    return;
  }
  expect_right(asked);
}

}  // namespace lab14
