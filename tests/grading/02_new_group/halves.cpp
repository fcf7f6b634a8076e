// Lab 02, parts 1 to 3: halves and their sums.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab02 {
namespace {

using judge::misconception;

constexpr double infinity = std::numeric_limits<double>::infinity();

double number_in(const Json& text) { return std::strtod(text.get<std::string>().c_str(), nullptr); }

int half_of(int rank, int world_size) { return rank < lower_size(world_size) ? 0 : 1; }

std::vector<int> ranks_between(int begin, int end) {
  std::vector<int> ranks;
  for (int rank = begin; rank < end; ++rank) ranks.push_back(rank);
  return ranks;
}

// ------------------------------------------------------------------------------------------------- part 1

void diagnose_halves(const Json& answer, int world_size) {
  const Json &lower = answer.at("lower"), &upper = answer.at("upper");
  if (lower.is_null() || upper.is_null()) {
    return misconception(
        "empty_handle",
        "an empty ProcessGroup is no group without members: to every operation it means the world. Keep what "
        "new_group returned, also where this rank is no member");
  }
  const int small = world_size / 2;
  if (world_size == 2 * small || lower.at("ranks") != Json(ranks_between(0, small))) return;
  if (upper.at("ranks") == Json(ranks_between(small, world_size))) {
    misconception("upper_half_larger",
                  "n / 2 rounds down: with an odd world size the rank in the middle went to the upper half");
  } else if (upper.at("ranks") == Json(ranks_between(small, 2 * small))) {
    misconception("last_rank_in_no_half",
                  "with an odd world size twice n / 2 is not n: the last rank is in neither half");
  }
}

// Whether the answer of `rank` is right; the first difference is told.
bool check_half(const Json& answer, int rank, int world_size, bool is_upper) {
  const auto* const name = is_upper ? "upper" : "lower";
  const int lower = lower_size(world_size);
  const auto ranks = is_upper ? ranks_between(lower, world_size) : ranks_between(0, lower);
  const Json& half = answer.at(name);
  const bool is_member = half_of(rank, world_size) == (is_upper ? 1 : 0);
  const int number = is_member ? rank - ranks.front() : -1;
  if (half == Json{{"ranks", ranks}, {"rank", number}}) return true;
  diagnose_halves(answer, world_size);
  const auto got = half.is_null()
                       ? std::string("an empty handle")
                       : fmt::format("{{{}}}", fmt::join(half.at("ranks").get<std::vector<int>>(), ", "));
  ADD_FAILURE() << fmt::format("rank {} of {}: {} is the group {{{}}}; make_halves returned {}", rank,
                               world_size, name, fmt::join(ranks, ", "), got);
  return false;
}

// --------------------------------------------------------------------------------------------- parts 2, 3

struct Asked {
  Numbers numbers;  // of all ranks
  int rank;
  int world_size() const { return static_cast<int>(numbers.size()); }
  int half() const { return half_of(rank, world_size()); }
  int size(int half) const {
    return half == 0 ? lower_size(world_size()) : world_size() - lower_size(world_size());
  }
  double right(int half) const {
    double sum = 0;
    for (int other = 0; other < world_size(); ++other) {
      if (half_of(other, world_size()) == half) sum += numbers[static_cast<std::size_t>(other)];
    }
    return sum;
  }
};

// A wrong idea, as a formula: if it gives all the answers, it is the one.
struct Idea {
  const char* name;
  const char* in_words;
  double (*answer)(const Asked&, int half);
};

const Idea rounded{
    "rounded_to_f32",
    "the numbers are doubles and went through a tensor of f32, the default dtype, which has 24 "
    "bits for them: say DType::f64",
    [](const Asked& a, int half) { return double{static_cast<float>(a.right(half))}; }};

const std::vector<Idea>& ideas_of_half_sum() {
  static const std::vector<Idea> known{
      {"sum_over_the_world",
       "that is the sum over all ranks: a collective without .group is one of the world",
       [](const Asked& a, int) { return a.right(0) + a.right(1); }},
      {"sum_not_taken_back",
       "that is the rank's own number: all_reduce works in place, on the tensor it is given",
       [](const Asked& a, int) { return a.numbers[static_cast<std::size_t>(a.rank)]; }},
      rounded};
  return known;
}

const std::vector<Idea>& ideas_of_both_sums() {
  static constexpr auto* summed =
      "each half's sum is known to all of its ranks, and SUM adds it once for each of them: the result is "
      "multiplied by the size of the half";
  static const std::vector<Idea> known{
      {"sum_instead_of_max", summed, [](const Asked& a, int half) { return a.right(half) * a.size(half); }},
      {"sum_instead_of_max", "a SUM over the world: minus infinity plus a number is minus infinity",
       [](const Asked&, int) { return -infinity; }},
      {"sum_divided_again",
       "each half's sum was added once for each of its ranks, and divided again: the sum in between may be "
       "no double. MAX over the world takes the sums as they are",
       [](const Asked& a, int half) { return a.right(half) * a.size(half) / a.size(half); }},
      {"absent_starts_at_zero",
       "zero is a number too: where the sum is negative, MAX takes the zero of those who do not know it. "
       "Nothing but minus infinity loses against every sum",
       [](const Asked& a, int half) { return std::max(a.right(half), 0.0); }},
      {"smallest_positive_as_lowest",
       "std::numeric_limits<double>::min() is the smallest positive number, about 2e-308, not the lowest one",
       [](const Asked& a, int half) { return std::max(a.right(half), std::numeric_limits<double>::min()); }},
      {"lowest_number_guessed",
       "there are sums below the number that stood for the unknown one, and MAX took that. Nothing but minus "
       "infinity loses against every sum",
       [](const Asked& a, int half) { return std::max(a.right(half), -1e6); }},
      {"lowest_number_guessed",
       "std::numeric_limits<float>::lowest() is a sum like another among doubles, and MAX took it. Nothing "
       "but minus infinity loses against every sum",
       [](const Asked& a, int half) {
         return std::max(a.right(half), double{std::numeric_limits<float>::lowest()});
       }},
      {"max_within_the_half",
       "the other half's sum never came: the second exchange must be one of the world, for within a half "
       "nobody knows it",
       [](const Asked& a, int half) { return half == a.half() ? a.right(half) : -infinity; }},
      {"max_within_the_half", "the other half's sum never came: no exchange goes beyond the half",
       [](const Asked& a, int half) { return half == a.half() ? a.right(half) : 0.0; }},
      {"own_sum_first",
       "every rank puts its own half's sum into the first place, so MAX compares the two sums with each "
       "other: lower belongs into place 0 and upper into place 1, on every rank",
       [](const Asked& a, int half) { return half == 0 ? std::max(a.right(0), a.right(1)) : -infinity; }},
      {"lower_and_upper_swapped", "the two sums are in each other's place: {lower, upper} is asked for",
       [](const Asked& a, int half) { return a.right(1 - half); }},
      rounded};
  return known;
}

struct Answer {
  Asked asked;
  std::vector<double> sums;  // of its own half, or of both
  double right(std::size_t i) const { return asked.right(half(i)); }
  int half(std::size_t i) const { return sums.size() == 1 ? asked.half() : static_cast<int>(i); }
};

void diagnose_sums(const std::vector<Idea>& ideas, const std::vector<Answer>& answers) {
  for (const auto& idea : ideas) {
    bool fits = true;
    for (const auto& answer : answers) {
      for (std::size_t i = 0; i < answer.sums.size(); ++i)
        fits = fits && answer.sums[i] == idea.answer(answer.asked, answer.half(i));
    }
    if (fits) return misconception(idea.name, idea.in_words);
  }
}

std::string text(const std::vector<double>& sums) {
  return sums.size() == 1 ? fmt::format("{}", sums[0]) : fmt::format("{{{}}}", fmt::join(sums, ", "));
}

void check_sums(const std::string& call, const std::vector<Idea>& ideas, const std::vector<Answer>& answers) {
  for (const auto& [asked, sums] : answers) {
    std::vector<double> right;
    for (std::size_t i = 0; i < sums.size(); ++i) right.push_back(Answer{asked, sums}.right(i));
    if (sums == right) continue;
    diagnose_sums(ideas, answers);
    ADD_FAILURE() << fmt::format("{} ranks bring {{{}}}: on rank {} {} is {}; returned {}",
                                 asked.world_size(), fmt::join(asked.numbers, ", "), asked.rank, call,
                                 text(right), text(sums));
    return;  // the first difference tells
  }
}

judge::SimRun expect_sums(const std::string& call, const std::vector<Idea>& ideas, int world_size,
                          const std::vector<Numbers>& rounds) {
  auto done = run(world_size, {{"call", call}}, rounds);
  const auto replies = answers(done);
  std::vector<Answer> all;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      Answer answer{{rounds[round], static_cast<int>(rank)}, {}};
      const Json& sums = replies[rank].at(round);
      for (const auto& sum : sums.is_array() ? sums : Json::array({sums}))
        answer.sums.push_back(number_in(sum));
      all.push_back(answer);
    }
  }
  check_sums(call, ideas, all);
  return done;
}

}  // namespace

void expect_halves(int world_size) {
  const auto replies = answers(run(world_size, {{"call", "make_halves"}}));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    for (const bool is_upper : {false, true}) {
      if (!check_half(replies[rank], static_cast<int>(rank), world_size, is_upper)) return;
    }
  }
  expect_groups_made(replies, 2, "both halves");
}

judge::SimRun expect_half_sums(int world_size, const std::vector<Numbers>& rounds) {
  return expect_sums("half_sum", ideas_of_half_sum(), world_size, rounds);
}

judge::SimRun expect_both_sums(int world_size, const std::vector<Numbers>& rounds) {
  return expect_sums("both_sums", ideas_of_both_sums(), world_size, rounds);
}

}  // namespace lab02
