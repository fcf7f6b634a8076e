// Lab 00: what the functions must return, and the ideas that a wrong answer shows.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab00 {
namespace {

using judge::misconception, judge::shown;

std::string name(int rank, int ranks) { return fmt::format("rank {} of {}", rank, ranks); }

void diagnose_name(const std::string& got, int rank, int ranks) {
  if (got == name(rank + 1, ranks)) {
    misconception("counts_from_one",
                  "ranks are counted from 0: of 4 ranks, the last one is rank 3; fix: use what get_rank() "
                  "returns, without adding 1");
  } else if (got == name(rank, ranks - 1)) {
    misconception("last_rank_as_world_size",
                  "the number of ranks is one more than the number of the last rank; fix: use what "
                  "get_world_size() returns");
  } else if (got == name(rank, 4)) {
    misconception("fixed_world_size",
                  "the number of ranks is chosen when the program is started, and may be any number; fix: "
                  "ask get_world_size()");
  }
}

struct Asked {
  Numbers numbers;
  bool is_mean;
  int ranks() const { return static_cast<int>(numbers.size()); }
  double own(int rank) const { return numbers[static_cast<std::size_t>(rank)]; }
  double sum() const { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }
  double right() const { return is_mean ? sum() / ranks() : sum(); }
};

// Whether a float is this number, but for the rounding of a division and a multiplication.
bool is_about(double got, double right) { return std::abs(got - right) <= 1e-6 * std::abs(right); }

// A wrong idea, as a formula. If the formula gives all of the answers, the submission has this idea.
struct Idea {
  const char* name;
  const char* in_words;
  std::function<double(const Asked&, int rank)> answer;
};

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known{
      {"result_not_read",
       "every rank returns its own number: all_reduce works in place, and its result is in the tensor that "
       "you passed; fix: return the tensor's element, not `mine`",
       [](const Asked& a, int rank) { return a.own(rank); }},
      {"result_on_rank_0_only",
       "rank 0 has the result and the other ranks do not: after all_reduce every rank has the sum; fix: do "
       "the same on every rank",
       [](const Asked& a, int rank) { return rank == 0 ? a.right() : a.own(rank); }},
      {"result_on_rank_0_only",
       "rank 0 has the result and the other ranks have the sum: every rank must divide, because every rank "
       "needs the mean; fix: do the same on every rank",
       [](const Asked& a, int rank) { return rank == 0 ? a.right() : a.sum(); }},
      {"summed_twice",
       "the result is n times too large: a second all_reduce adds up n sums; fix: call it once",
       [](const Asked& a, int) { return a.right() * a.ranks(); }},
      {"fixed_world_size",
       "the sum was divided by 4; the number of ranks may be any number; fix: ask get_world_size()",
       [](const Asked& a, int) { return a.sum() / 4; }},
      {"divided_twice",
       "the result is n times too small: it was divided by n twice, before and after the sum; fix: divide "
       "once",
       [](const Asked& a, int) { return a.right() / a.ranks(); }}};
  return known;
}

// A sum where the mean is asked for has an explanation of its own, before the formulas.
void diagnose(const Asked& asked, const std::vector<Json>& answers, int all_reduces) {
  const auto fits = [&](const auto& formula) {
    for (int rank = 0; rank < asked.ranks(); ++rank) {
      if (!is_about(answers[static_cast<std::size_t>(rank)].get<double>(), formula(asked, rank)))
        return false;
    }
    return true;
  };
  if (asked.is_mean && fits([](const Asked& a, int) { return a.sum(); }))
    return misconception("not_divided",
                         "this is the sum: all_reduce adds, and does not divide; fix: divide the sum by the "
                         "number of ranks");
  for (const auto& idea : ideas()) {
    if (!fits(idea.answer)) continue;
    if (std::string(idea.name) == "result_not_read" && all_reduces == 0)
      return misconception("never_asks_the_others",
                           "every rank returns a result of its own number alone: ranks share no memory, so "
                           "the other numbers must be sent; fix: call all_reduce");
    return misconception(idea.name, idea.in_words);
  }
}

}  // namespace

void expect_names(int ranks) {
  const auto replies = answers(run("introduce", one_to(ranks)));
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    const auto got = judge::from_hex(replies[static_cast<std::size_t>(rank)].get<std::string>());
    if (got == name(rank, ranks)) continue;
    diagnose_name(got, rank, ranks);
    ADD_FAILURE() << fmt::format("introduce on {} ranks: expected {} on rank {}; it returned {}", ranks,
                                 shown(name(rank, ranks)), rank, shown(got));
    return;  // the first difference is enough
  }
}

judge::SimRun expect_numbers(const std::string& call, const Numbers& numbers) {
  auto done = run(call, numbers);
  const auto replies = answers(done);
  const Asked asked{numbers, call == "mean_of_all"};
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    const auto& got = replies[static_cast<std::size_t>(rank)];
    if (got.is_number() && is_about(got.get<double>(), asked.right())) continue;
    const bool all_numbers =
        std::ranges::all_of(replies, [](const Json& reply) { return reply.is_number(); });
    if (all_numbers) diagnose(asked, replies, all_reduces(done, rank));
    ADD_FAILURE() << fmt::format("{}expected {} on rank {}; it returned {}", done.about, asked.right(), rank,
                                 got.is_number() ? fmt::format("{}", got.get<double>()) : "no finite number");
    return done;
  }
  return done;
}

void expect_one_all_reduce(const std::string& call) {
  const auto done = expect_numbers(call, one_to(4));
  for (int rank = 0; rank < 4 && !testing::Test::HasFailure(); ++rank) {
    const int calls = all_reduces(done, rank);
    if (calls > 1)
      misconception("more_than_one_all_reduce",
                    "each all_reduce waits for all ranks, so a second one doubles the time; fix: the "
                    "first one leaves the sum on every rank, so return it");
    if (calls != 1)
      ADD_FAILURE() << fmt::format("{}expected one call of all_reduce on rank {}; it made {}", done.about,
                                   rank, calls);
    for (const auto& [name, made] : done.done[static_cast<std::size_t>(rank)])
      if (name != "all_reduce")
        ADD_FAILURE() << fmt::format("{}expected one all_reduce and nothing else; rank {} also calls {}",
                                     done.about, rank, name);
  }
}

}  // namespace lab00
