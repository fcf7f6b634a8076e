// Lab 07: what the ranks have after the calls.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab07 {
namespace {

using judge::misconception;

// Which call it was and how it ran: the beginning of a message.
std::string heading(const Asked& asked, std::size_t item, bool eager) {
  return asked.text(item) + (eager ? ", with eager sends" : "");
}

bool check_returned(const std::string& where, const Json& right, std::size_t rank, const Json& seen) {
  if (!seen.contains("refused")) return true;
  misconception("refuses_none_right",
                "\"none right\" and \"none seen\" are two cases: 0 right of 5 is an accuracy of 0; fix: "
                "throw only if the sum of `seen` is 0");
  ADD_FAILURE() << fmt::format("{}: expected {} on rank {}; it threw an error: {}", where, text(right), rank,
                               seen["refused"].get<std::string>());
  return false;
}

bool check_in_place(const std::string& where, const Item& item, std::size_t rank, const Json& seen) {
  if (!seen.at("same_memory")) {
    misconception("not_in_place",
                  "the tensor now refers to other memory, so whoever holds the old memory does not see the "
                  "result; fix: receive into the tensor's own memory, or copy_ into it");
    ADD_FAILURE() << fmt::format(
        "{}: afterwards the tensor of rank {} has other memory than the caller gave; expected the same "
        "memory, written in place",
        where, rank);
    return false;
  }
  if (!seen.contains("input") || seen["input"] == item.of[rank]) return true;
  misconception("input_changed", "`mine` is an input and must not change");
  ADD_FAILURE() << fmt::format("{}: expected that `mine` stays {} on rank {}; it is {}", where,
                               text(item.of[rank]), rank, text(seen["input"]));
  return false;
}

bool check_numbers(const Asked& asked, std::size_t index, bool eager, const std::vector<Json>& replies) {
  const Item& item = asked.items[index];
  const auto right = expected(asked.call, item);
  const auto where = heading(asked, index, eager);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& seen = replies[rank].at(index);
    if (!check_returned(where, right, rank, seen) || !check_in_place(where, item, rank, seen)) return false;
    const Json& got = seen.at("numbers");
    if (agree(asked.call, item, right, got)) continue;
    diagnose(asked, replies);
    ADD_FAILURE() << fmt::format("{}: expected {} on rank {}; it has {} and contributed {} ({})", where,
                                 text(right), rank, text(got), text(item.of[rank]), difference(right, got));
    return false;
  }
  return true;
}

bool check(const Asked& asked, bool eager, const std::vector<Json>& replies) {
  if (replies.empty()) return false;
  for (std::size_t i = 0; i < asked.items.size(); ++i) {
    if (!check_numbers(asked, i, eager, replies)) return false;
  }
  return true;
}

// As far from the sum as a float sum in any order may be.
bool is_near_the_sum(const Asked& asked, const Json& got) {
  const Item& item = asked.items[0];
  const auto right = expected(asked.call, item);
  if (got.size() != right.size()) return false;
  for (int i = 0; i < item.elements(); ++i) {
    double magnitude = 0;
    for (int rank = 0; rank < item.ranks(); ++rank) magnitude += std::abs(item.at(rank, i));
    const auto at = static_cast<std::size_t>(i);
    if (!got[at].is_number() ||
        !(std::abs(got[at].get<double>() - right[at].get<double>()) <= 1e-6 * magnitude))
      return false;
  }
  return true;
}

}  // namespace

void expect_right(const Asked& asked) {
  for (const bool eager : {false, true}) {
    if (!check(asked, eager, answers(asked, run(asked, eager), eager))) return;
  }
}

void expect_apart(Asked asked) {
  const auto alone = run(asked, false);
  if (!check(asked, false, answers(asked, alone, false))) return;
  const int n = asked.world_size();
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      const auto connects = [&](const auto& link) {
        return (link.src == from && link.dst == to) || (link.src == to && link.dst == from);
      };
      if (from != to && std::ranges::none_of(alone.report.links, connects))
        asked.beside.emplace_back(from, to);
    }
  }
  const auto beside = run(asked, false);
  const auto takes_any_message = [] {
    misconception(
        "takes_any_message",
        "the call is right by itself, but not while another message is under way between two ranks that "
        "it does not connect; fix: receive from each rank by its number, because a receive from any "
        "rank takes such a message, too");
  };
  if (!beside.report.ok()) takes_any_message();
  if (check(asked, false, answers(asked, beside, false))) return;
  takes_any_message();
  ADD_FAILURE() << "this happened while the program around the call had messages of its own under way";
}

bool run_in_rounds(const Asked& asked, judge::SimRun& done) {
  done = run(asked, false, "rounds");
  return check(asked, false, answers(asked, done, false));
}

void expect_same_bits(const Asked& asked) {
  const auto replies = answers(asked, run(asked, false), false);
  if (replies.empty()) return;
  const auto where = heading(asked, 0, false);
  const Json& first = replies[0].at(0).at("numbers");
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& got = replies[rank].at(0).at("numbers");
    if (!check_in_place(where, asked.items[0], rank, replies[rank].at(0))) return;
    if (!is_near_the_sum(asked, got)) {
      diagnose(asked, replies);
      if (rank > 0) misconception("result_on_rank_0_only", only_rank_0_in_words);
      ADD_FAILURE() << fmt::format("{}: expected about {} on rank {}; it has {}", where,
                                   text(expected(asked.call, asked.items[0])), rank, text(got));
      return;
    }
    if (got == first) continue;
    misconception("each_rank_sums_in_its_own_order",
                  "float addition depends on the order: ranks that add the same numbers in different orders "
                  "get different bits; fix: let one rank compute the result, and give that result to all");
    ADD_FAILURE() << fmt::format(
        "{}: expected the same bits on all ranks; rank 0 has {}, rank {} has {} ({})", where, text(first),
        rank, text(got), difference(first, got));
    return;
  }
}

void expect_refused(const Asked& asked, bool nothing_moves) {
  const auto done = run(asked, false);
  const auto replies = answers(asked, done, false);
  if (replies.empty()) return;
  const auto where = heading(asked, 0, false);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& seen = replies[rank].at(0);
    if (seen.contains("refused")) continue;
    misconception("not_refused", nothing_moves
                                     ? "the mean of integers is generally not an integer: 3 divided by 2 "
                                       "would be 1; fix: throw invalid_argument"
                                     : "without samples there is no accuracy: 0 / 0 is NaN, which spreads "
                                       "into every later result; fix: throw invalid_argument");
    ADD_FAILURE() << fmt::format("{}: expected Error{{invalid_argument}} on rank {}; it returned {}", where,
                                 rank, text(seen.at("numbers")));
    return;
  }
  if (!nothing_moves || done.report.messages == 0) return;
  misconception("refuses_too_late",
                "what the arguments alone show must be rejected before the first message");
  ADD_FAILURE() << fmt::format("{}: expected no message before the error; {} messages were sent", where,
                               done.report.messages);
}

}  // namespace lab07
