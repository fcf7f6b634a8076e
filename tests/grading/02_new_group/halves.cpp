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
        "an empty ProcessGroup is not a group without members: for every operation it means the default "
        "group; fix: keep what new_group returned, also on ranks that are not members");
  }
  const int small = world_size / 2;
  if (world_size == 2 * small || lower.at("ranks") != Json(ranks_between(0, small))) return;
  if (upper.at("ranks") == Json(ranks_between(small, world_size))) {
    misconception("upper_half_larger",
                  "n / 2 rounds down: with an odd world size the middle rank went to the upper half; fix: "
                  "give it to the lower half");
  } else if (upper.at("ranks") == Json(ranks_between(small, 2 * small))) {
    misconception("last_rank_in_no_half",
                  "with an odd world size twice n / 2 is not n, so the last rank is in neither half");
  }
}

// Whether the answer of `rank` is right. Reports the first difference.
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
  ADD_FAILURE() << fmt::format("rank {} of {}: {} must be the group {{{}}}; make_halves returned {}", rank,
                               world_size, name, fmt::join(ranks, ", "), got);
  return false;
}

// --------------------------------------------------------------------------------------------- parts 2, 3

struct Asked {
  Numbers numbers;  // one per rank
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

// A wrong idea, as a formula. If the formula gives all of the answers, the submission has this idea.
struct Idea {
  const char* name;
  const char* in_words;
  double (*answer)(const Asked&, int half);
};

const Idea rounded{"rounded_to_f32",
                   "the numbers are doubles and went through an f32 tensor (the default dtype), which keeps "
                   "only 24 bits of them; fix: use DType::f64",
                   [](const Asked& a, int half) { return double{static_cast<float>(a.right(half))}; }};

const std::vector<Idea>& ideas_of_half_sum() {
  static const std::vector<Idea> known{
      {"sum_over_the_world",
       "this is the sum over all ranks: a collective without .group uses the default group; fix: pass .group",
       [](const Asked& a, int) { return a.right(0) + a.right(1); }},
      {"sum_not_taken_back",
       "this is the rank's own number: all_reduce works in place; fix: read the tensor that you passed to it",
       [](const Asked& a, int) { return a.numbers[static_cast<std::size_t>(a.rank)]; }},
      rounded};
  return known;
}

const std::vector<Idea>& ideas_of_both_sums() {
  static constexpr auto* summed =
      "every rank of a half has that half's sum, and SUM adds it once per rank: the result is multiplied by "
      "the size of the half";
  static const std::vector<Idea> known{
      {"sum_instead_of_max", summed, [](const Asked& a, int half) { return a.right(half) * a.size(half); }},
      {"sum_instead_of_max",
       "the second exchange uses SUM: minus infinity plus a number is minus infinity; fix: use MAX",
       [](const Asked&, int) { return -infinity; }},
      {"sum_divided_again",
       "each half's sum was added once per rank and divided again: the intermediate sum may be too large for "
       "a double; fix: use MAX over the world, which returns the sums unchanged",
       [](const Asked& a, int half) { return a.right(half) * a.size(half) / a.size(half); }},
      {"absent_starts_at_zero",
       "zero is a number, too: if the sum is negative, MAX returns the zero of the ranks that do not know "
       "the sum; fix: let those ranks contribute minus infinity, which is below every sum",
       [](const Asked& a, int half) { return std::max(a.right(half), 0.0); }},
      {"smallest_positive_as_lowest",
       "std::numeric_limits<double>::min() is the smallest positive number, about 2e-308, not the lowest "
       "one; fix: use minus infinity",
       [](const Asked& a, int half) { return std::max(a.right(half), std::numeric_limits<double>::min()); }},
      {"lowest_number_guessed",
       "some sums are below the number that stands for the unknown sum, and MAX returned that number; fix: "
       "use minus infinity, which is below every sum",
       [](const Asked& a, int half) { return std::max(a.right(half), -1e6); }},
      {"lowest_number_guessed",
       "some sums are below std::numeric_limits<float>::lowest(), because they are doubles, and MAX returned "
       "it; fix: use minus infinity, which is below every sum",
       [](const Asked& a, int half) {
         return std::max(a.right(half), double{std::numeric_limits<float>::lowest()});
       }},
      {"max_within_the_half",
       "the other half's sum never arrived: the second exchange must be over all ranks, because no rank of a "
       "half knows the other half's sum",
       [](const Asked& a, int half) { return half == a.half() ? a.right(half) : -infinity; }},
      {"max_within_the_half",
       "the other half's sum never arrived: every exchange stays within one half; fix: make the second "
       "exchange over all ranks",
       [](const Asked& a, int half) { return half == a.half() ? a.right(half) : 0.0; }},
      {"own_sum_first",
       "every rank puts its own half's sum first, so MAX compares the sum of one half with that of the "
       "other; fix: put the lower sum into element 0 and the upper sum into element 1, on every rank",
       [](const Asked& a, int half) { return half == 0 ? std::max(a.right(0), a.right(1)) : -infinity; }},
      {"lower_and_upper_swapped", "the two sums are swapped; fix: return {lower, upper}",
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
    ADD_FAILURE() << fmt::format("{} ranks with the numbers {{{}}}: on rank {}, {} must be {}; it is {}",
                                 asked.world_size(), fmt::join(asked.numbers, ", "), asked.rank, call,
                                 text(right), text(sums));
    return;  // the first difference is enough
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
