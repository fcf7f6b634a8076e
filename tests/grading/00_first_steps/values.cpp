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
      {"integer_division",
       "the mean is rounded down to an integer: the quotient of two integers is an integer; fix: divide a "
       "float",
       [](const Asked& a, int) { return std::floor(std::floor(a.sum()) / a.ranks()); }},
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

// A later call of one program than the first one, which was right. The last call has the first one's numbers.
bool diagnose_state(const Asked& asked, const Rows& rows, const std::vector<std::vector<Json>>& of_calls,
                    std::size_t row) {
  const auto are_all = [&](double value) {
    return std::ranges::all_of(of_calls[row], [&](const Json& got) { return is_about(got, value); });
  };
  if (are_all(Asked{rows[row - 1], asked.is_mean}.right())) {
    misconception("returns_the_first_result",
                  "the second call in a program returns the result of the first one; fix: make the tensor "
                  "and call all_reduce anew in every call, with nothing in a static or global variable");
    return true;
  }
  if (of_calls.front() == of_calls.back()) return false;
  misconception("keeps_something",
                "the same call, with the same numbers, returns another result later in the same program, so "
                "something is kept from call to call; fix: make the tensor anew in every call, with nothing "
                "in a static or global variable");
  return true;
}

void diagnose_row(const Asked& asked, const Rows& rows, const std::vector<Json>& replies, std::size_t row,
                  int all_reduces) {
  std::vector<std::vector<Json>> of_calls(rows.size());
  for (const Json& reply : replies)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!reply.at(i).is_number()) return;
      of_calls[i].push_back(reply.at(i));
    }
  if (row == 0 || !diagnose_state(asked, rows, of_calls, row)) diagnose(asked, of_calls[row], all_reduces);
}

// `counted`: a sum of ones over all ranks, after introduce().
bool can_add(const Json& counted, int rank, int ranks) {
  if (judge::is_error(counted)) {
    const std::string error = counted.at("error").value("what", "");
    if (error.find("init_process_group") != std::string::npos)
      misconception("leaves_again",
                    "after introduce() this rank has left the group, so no later function can "
                    "communicate; fix: leave the group (destroy_process_group) nowhere");
    ADD_FAILURE() << fmt::format(
        "introduce on {} ranks: after it, a sum over all ranks must be possible; on rank {} it ended with: "
        "{}",
        ranks, rank, error);
    return false;
  }
  const Json sum = judge::value_of(counted, fmt::format("rank {}", rank));
  if (sum == ranks) return true;
  ADD_FAILURE() << fmt::format(
      "introduce on {} ranks: after it, a sum of ones must be {}; on rank {} it is {}", ranks, ranks, rank,
      sum.dump());
  return false;
}

}  // namespace

void expect_names(int ranks) {
  const auto replies = answers(run("introduce", {one_to(ranks)}));
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    const auto& reply = replies[static_cast<std::size_t>(rank)];
    const auto got = judge::from_hex(reply.at("text").get<std::string>());
    if (got != name(rank, ranks)) {
      diagnose_name(got, rank, ranks);
      ADD_FAILURE() << fmt::format("introduce on {} ranks: expected {} on rank {}; it returned {}", ranks,
                                   shown(name(rank, ranks)), rank, shown(got));
      return;  // the first difference is enough
    }
    if (!can_add(reply.at("counted"), rank, ranks)) return;
  }
}

judge::SimRun expect_numbers(const std::string& call, const Rows& rows) {
  auto done = run(call, rows);
  const auto replies = answers(done);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Asked asked{rows[row], call == "mean_of_all"};
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const auto& got = replies[rank].at(row);
      if (got.is_number() && is_about(got.get<double>(), asked.right())) continue;
      diagnose_row(asked, rows, replies, row, all_reduces(done, static_cast<int>(rank)));
      ADD_FAILURE() << fmt::format(
          "{}{}expected {} on rank {}; it returned {}", done.about,
          rows.size() == 1 ? "" : fmt::format("in call {}, ", row + 1), asked.right(), rank,
          got.is_number() ? fmt::format("{}", got.get<double>()) : "no finite number");
      return done;
    }
  }
  return done;
}

void expect_one_all_reduce(const std::string& call) {
  const auto done = expect_numbers(call, {one_to(4)});
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
