#include "judge/sums.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "judge/numbers.h"

namespace judge {
namespace {

constexpr const char* not_in_place_in_words =
    "the tensor was made to point to other memory, and whoever else holds the old memory sees nothing of the "
    "result; fix: receive into the tensor's own memory, or copy_ into it";

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double expected_of(const SumsAsked& asked, const Sum& sum, int rank, int i) {
  return asked.expected ? asked.expected(sum, rank, i) : sum.total(i);
}

// What is expected of element i on `rank`; null: it does not matter. i64 exactly, even where f64 cannot hold
// it: the upper and the lower digits are summed by themselves.
Json right_of(const SumsAsked& asked, const Sum& sum, int rank, int i) {
  const double right = expected_of(asked, sum, rank, i);
  if (std::isnan(right)) return {};
  if (sum.dtype != "i64") return right;
  constexpr std::int64_t base = std::int64_t{1} << 31;
  Sum upper = sum, lower = sum;
  for (int r = 0; r < sum.ranks(); ++r) {
    for (std::size_t k = 0; k < sum.of[at(r)].size(); ++k) {
      const std::int64_t number = sum.of[at(r)][k];
      upper.of[at(r)][k] = number / base;
      lower.of[at(r)][k] = number % base;
    }
  }
  return base * static_cast<std::int64_t>(expected_of(asked, upper, rank, i)) +
         static_cast<std::int64_t>(expected_of(asked, lower, rank, i));
}

bool is_right(const Json& right, const Json& got) { return right.is_null() || right == got; }

std::string what_each_has(const Sum& sum) { return fmt::format("{} {}", sum.elements(), sum.dtype); }

SimRun run(const SumsAsked& asked, bool eager, const std::string& topology) {
  SimPlan plan{.topology = topology,
               .eager = eager,
               .schedule = asked.schedule,
               .trace = asked.trace,
               .sent = asked.sent};
  for (int rank = 0; rank < asked.first().ranks(); ++rank) {
    Json task{{"call", asked.call}, {"items", Json::array()}, {"delay", rank == asked.late ? 1e-3 : 0.0}};
    for (const Sum& sum : asked.sums) {
      const Json numbers = sum.large > 0 ? Json::array() : sum.of[at(rank)];
      task["items"].push_back(
          {{"dtype", sum.dtype}, {"numbers", numbers}, {"segment", sum.segment}, {"large", sum.large}});
    }
    plan.tasks.push_back(task);
  }
  plan.about = asked.text_of_all();
  if (eager) plan.about += ", eager sends";
  if (asked.late >= 0) plan.about += fmt::format(", rank {} is late", asked.late);
  return simulate(plan);
}

std::vector<Json> answers(const SumsAsked& asked, const SimRun& done) {
  for (const auto& finding : done.report.findings) {
    if (asked.diagnose) asked.diagnose(finding);
  }
  return done.answers();
}

// The idea that all numbers of all ranks fit, where it says something.
void diagnose(const SumsAsked& asked, const std::vector<Json>& replies) {
  const auto fits = [&](const Idea& idea) {
    bool says_something = false;
    for (std::size_t index = 0; index < asked.sums.size(); ++index) {
      const Sum& sum = asked.sums[index];
      for (int rank = 0; rank < sum.ranks(); ++rank) {
        const Json& got = replies[at(rank)].at(index).value("numbers", Json::array());
        for (int i = 0; i < static_cast<int>(got.size()); ++i) {
          const double said = idea.number(sum, rank, i);
          if (std::isnan(said)) continue;
          says_something = true;
          if (!got[at(i)].is_number() || got[at(i)].get<double>() != said) return false;
        }
      }
    }
    return says_something;
  };
  if (!asked.ideas) return;
  for (const Idea& idea : *asked.ideas) {
    if (idea.call == asked.call && fits(idea)) return misconception(idea.name, idea.in_words);
  }
}

// Close to the number, but not equal: the result of a conversion to a dtype with fewer digits and back.
bool are_nearly_right(const SumsAsked& asked, const std::vector<Json>& replies) {
  for (std::size_t index = 0; index < asked.sums.size(); ++index) {
    const Sum& sum = asked.sums[index];
    for (int rank = 0; rank < sum.ranks(); ++rank) {
      const Json& got = replies[at(rank)].at(index).value("numbers", Json::array());
      for (int i = 0; i < sum.elements(); ++i) {
        const double right = expected_of(asked, sum, rank, i);
        if (std::isnan(right)) continue;
        if (at(i) >= got.size() || !got[at(i)].is_number()) return false;
        if (!(std::abs(got[at(i)].get<double>() - right) <= 1e-6 * std::abs(right))) return false;
      }
    }
  }
  return true;
}

// Sums of this dtype are wrong.
void diagnose_dtype(const SumsAsked& asked, const std::string& dtype, const std::vector<Json>& replies) {
  if (dtype == "f32" || !are_nearly_right(asked, replies)) return;
  if (dtype == "f64") {
    misconception("f64_through_f32",
                  "nearly right: f64 numbers went through f32, which keeps 24 of their 53 bits; fix: send "
                  "and add in the tensor's own dtype");
  } else {
    misconception("sums_integers_in_float",
                  "nearly right: the whole numbers went through floating point, where f64 is exact up to "
                  "2^53 only and f32 up to 2^24; fix: sum i64 as i64");
  }
}

bool is_in_place(const SumsAsked& asked, std::size_t index, int rank, const Json& seen) {
  if (seen.at("same_memory")) return true;
  misconception("not_in_place", not_in_place_in_words);
  ADD_FAILURE() << fmt::format(
      "{}: afterwards the tensor of rank {} has other memory than the caller gave; expected the same, "
      "written "
      "in place",
      asked.text(index), rank);
  return false;
}

bool check_large(const SumsAsked& asked, std::size_t index, int rank, const Json& seen) {
  const int n = asked.sums[index].ranks();
  if (seen.at("constant") == n * (n + 1) / 2.) return true;
  const Json& got = seen.at("constant");
  ADD_FAILURE() << fmt::format(
      "{}: rank 0 gave 1 in every element, rank 1 gave 2, and so on, so every sum is {}; on rank {} {}",
      asked.text(index), n * (n + 1) / 2, rank,
      got.is_null() ? "the elements differ from one another" : "every element is " + number_text(got));
  return false;
}

bool check(const SumsAsked& asked, std::size_t index, int rank, const std::vector<Json>& replies) {
  const Sum& sum = asked.sums[index];
  const Json& seen = replies[at(rank)].at(index);
  if (!is_in_place(asked, index, rank, seen)) return false;
  if (sum.large > 0) return check_large(asked, index, rank, seen);
  const Json& got = seen.at("numbers");
  for (int i = 0; i < sum.elements(); ++i) {
    const Json number = at(i) < got.size() ? got[at(i)] : Json();
    const Json right = right_of(asked, sum, rank, i);
    if (is_right(right, number)) continue;
    diagnose(asked, replies);
    diagnose_dtype(asked, sum.dtype, replies);
    std::vector<std::string> given;
    for (const Json& numbers : sum.of) given.push_back(number_text(numbers[at(i)]));
    ADD_FAILURE() << fmt::format("{}: element {} is {} on rank {}; expected {} (the ranks gave {})",
                                 asked.text(index), i, number_text(number), rank, number_text(right),
                                 fmt::join(given, ", "));
    return false;
  }
  return true;
}

bool check_all(const SumsAsked& asked, const std::vector<Json>& replies) {
  for (std::size_t index = 0; index < asked.sums.size() && !replies.empty(); ++index) {
    for (int rank = 0; rank < asked.first().ranks(); ++rank) {
      if (!check(asked, index, rank, replies)) return false;
    }
  }
  return !replies.empty();
}

// The largest distance from the total that a float sum in any order may have.
bool is_near(const Sum& sum, int i, const Json& got) {
  double magnitude = 0;
  for (int rank = 0; rank < sum.ranks(); ++rank) magnitude += std::abs(sum.at(rank, i));
  return got.is_number() && std::abs(got.get<double>() - sum.total(i)) <= 1e-6 * magnitude;
}

}  // namespace

double Sum::at(int rank, int i) const {
  return of[static_cast<std::size_t>(rank)].at(static_cast<std::size_t>(i));
}

double Sum::total(int i) const {
  double total = 0;
  for (int rank = 0; rank < ranks(); ++rank) total += at(rank, i);
  return total;
}

int Sum::chunk_of(int i) const {
  int c = 0;
  while (begin(c + 1) <= i) ++c;
  return c;
}

int Sum::segments_of(std::int64_t length) const {
  return static_cast<int>(std::max<std::int64_t>(1, (length + segment - 1) / segment));
}

std::string SumsAsked::text(std::size_t index) const {
  const Sum& sum = sums[index];
  return fmt::format("{} among {} rank{}, {} each{}", call, sum.ranks(), sum.ranks() == 1 ? "" : "s",
                     what_each_has(sum),
                     sum.segment > 1 ? fmt::format(" in segments of {}", sum.segment) : "");
}

std::string SumsAsked::text_of_all() const {
  std::string all = text();
  for (std::size_t i = 1; i < sums.size(); ++i)
    all += fmt::format("{} {}", i == 1 ? ", then" : " and", what_each_has(sums[i]));
  return all;
}

void expect_sums(const SumsAsked& asked, bool eager_too) {
  if (!check_all(asked, answers(asked, run(asked, false, "laptop"))) || !eager_too) return;
  check_all(asked, answers(asked, run(asked, true, "laptop")));
}

void expect_sizes(Random& random, SumsAsked asked, const std::vector<int>& sizes, const Lengths& lengths,
                  std::int64_t segment) {
  for (const int ranks : sizes) {
    asked.sums.clear();
    for (const int elements : lengths(ranks)) asked.sums.push_back(one_sum(random, ranks, elements, segment));
    expect_sums(asked, ranks == sizes.back());
    if (testing::Test::HasFailure()) return;
  }
}

void expect_dtypes(Random& random, SumsAsked asked, int ranks, std::int64_t segment) {
  asked.sums = {long_numbers(random, ranks, 2 * ranks + 1), large_integers(random, ranks, 3 * ranks)};
  for (Sum& sum : asked.sums) sum.segment = segment;
  expect_sums(asked, false);
}

bool run_sums(const SumsAsked& asked, const std::string& topology, SimRun& done) {
  done = run(asked, false, topology);
  return check_all(asked, answers(asked, done));
}

void expect_same_bits(const SumsAsked& asked) {
  const auto replies = answers(asked, run(asked, false, "laptop"));
  const Sum& sum = asked.first();
  for (int rank = 0; rank < sum.ranks() && !replies.empty(); ++rank) {
    const Json &first = replies[0].at(0).at("numbers"), &got = replies[at(rank)].at(0).at("numbers");
    if (!is_in_place(asked, 0, rank, replies[at(rank)].at(0))) return;
    for (int i = 0; i < sum.elements(); ++i) {
      if (!is_near(sum, i, got[at(i)])) {
        diagnose(asked, replies);
        ADD_FAILURE() << fmt::format("{}: element {} is {} on rank {}; expected about {}", asked.text(), i,
                                     number_text(got[at(i)]), rank, sum.total(i));
        return;
      }
      if (got[at(i)] == first[at(i)]) continue;
      misconception("each_rank_sums_in_its_own_order",
                    "float addition depends on the order: ranks that add the same numbers in different "
                    "orders get different bits, and drift apart; fix: sum each element on one rank, and send "
                    "the result to the others");
      ADD_FAILURE() << fmt::format("{}: element {} is {} on rank 0 and {} on rank {}; expected the same bits",
                                   asked.text(), i, number_text(first[at(i)]), number_text(got[at(i)]), rank);
      return;
    }
  }
}

WorldReport run_world(Random& random, const World& world) {
  SimRun done;
  const SumsAsked asked{.call = world.call,
                        .sums = {one_sum(random, world.ranks, world.elements, world.segment)}};
  const bool is_right = run_sums(asked, world.topology, done);
  return {is_right, done.report.virtual_time_s, done.report.messages};
}

}  // namespace judge
