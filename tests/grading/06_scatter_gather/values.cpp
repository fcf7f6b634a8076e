// Lab 06: where the shares are after a call.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab06 {
namespace {

using judge::misconception;

// What stands in the place of a rank's share, were an idea right.
struct Idea {
  const char* name;
  const char* in_words;
  std::function<Numbers(const Round&, int rank)> numbers;
};

// Rows [first, first + count), as far as there are any.
Numbers clipped(const Round& round, int first, int count) {
  const int begin = std::min(first, round.rows()), end = std::min(first + count, round.rows());
  return rows_of(round, begin, end - begin);
}

Numbers dealt_in_turn(const Round& round, int rank) {
  Numbers numbers;
  for (int row = rank; row < round.rows(); row += round.ranks) {
    const auto more = rows_of(round, row, 1);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

const std::vector<Idea>& ideas() {
  static const std::vector<Idea> known{
      {"own_share_forgotten",
       "the root's own share is missing, all others are right: no message brings it, the root copies it",
       [](const Round& r, int rank) { return rank == r.root ? garbage(r, rank) : share_of(r, rank); }},
      {"nothing_arrives", "everything is as it was before: nothing was written into the caller's tensors",
       [](const Round& r, int rank) { return garbage(r, rank); }},
      {"shares_by_place",
       "each rank has the share of its place, counted from the root; share r of `all` belongs to rank r: the "
       "root has to put them in order of places before it cuts the subtrees out",
       [](const Round& r, int rank) { return share_of(r, place_of(rank, r.root, r.ranks)); }},
      {"first_share_for_all", "every rank has share 0", [](const Round& r, int) { return share_of(r, 0); }},
      {"remainder_dropped",
       "every part has rows / n rows, rounded down, and the rows that are left over went to nobody",
       [](const Round& r, int rank) { return rows_of(r, rank * (r.rows() / r.ranks), r.rows() / r.ranks); }},
      {"last_takes_the_rest",
       "the last rank has all rows that are left over, up to n - 1 of them, and all wait for it: give one "
       "each to the first ranks",
       [](const Round& r, int rank) {
         const int each = r.rows() / r.ranks;
         return clipped(r, rank * each, rank == r.ranks - 1 ? r.rows() : each);
       }},
      {"size_rounded_up",
       "the size of a part was rounded up, so that the last ranks have too few rows or none: sizes may "
       "differ "
       "by one only",
       [](const Round& r, int rank) {
         const int each = (r.rows() + r.ranks - 1) / r.ranks;
         return clipped(r, rank * each, each);
       }},
      {"longer_parts_not_first",
       "the sizes are right, but the longer parts are not the first ones; Tensor::chunk places them "
       "elsewhere",
       [](const Round& r, int rank) {
         const int begin = rank * r.rows() / r.ranks, end = (rank + 1) * r.rows() / r.ranks;
         return rows_of(r, begin, end - begin);
       }},
      {"dealt_in_turn", "the rows were dealt in turn, like cards; a part is a contiguous run of rows",
       dealt_in_turn}};
  return known;
}

using Table = std::vector<std::vector<Numbers>>;  // [round][rank]: what stands in its share's place

Table table_of(const Asked& asked, const std::vector<Json>& replies) {
  Table table(asked.rounds.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const auto root = static_cast<std::size_t>(asked.rounds[i].root);
      table[i].push_back(asked.is("gather") ? replies[root].at(i).at("outputs").at(rank)
                                            : replies[rank].at(i).at("outputs").at(0));
    }
  }
  return table;
}

bool fits(const Asked& asked, const Table& table, const Idea& idea) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (int rank = 0; rank < asked.world_size(); ++rank) {
      if (table[i][static_cast<std::size_t>(rank)] != idea.numbers(asked.rounds[i], rank)) return false;
    }
  }
  return true;
}

// All shares are in the list, in another order.
bool is_out_of_order(const Asked& asked, const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto got = table[i];
    std::vector<Numbers> expected;
    for (int rank = 0; rank < asked.world_size(); ++rank) expected.push_back(share_of(asked.rounds[i], rank));
    std::ranges::sort(got);
    std::ranges::sort(expected);
    if (got != expected) return false;
  }
  return true;
}

void diagnose(const Asked& asked, const Table& table) {
  if (asked.is("gather") && is_out_of_order(asked, table)) {
    misconception("order_by_arrival",
                  "the shares stand in the order in which they came; list[r] belongs to rank r: receive from "
                  "rank r by name");
  }
  for (const auto& idea : ideas()) {
    if (fits(asked, table, idea)) return misconception(idea.name, idea.in_words);
  }
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    for (int rank = 0; rank < asked.world_size(); ++rank) {
      const auto next = share_of(asked.rounds[i + 1], rank);
      if (next.empty() || table[i][static_cast<std::size_t>(rank)] != next) continue;
      return misconception("calls_mixed",
                           "what a rank sent in its next call was taken for this one: who receives from any "
                           "rank takes whatever comes, also twice from the one that is ahead");
    }
  }
}

bool check_numbers(const Asked& asked, const std::vector<Json>& replies, const std::string& how) {
  const auto table = table_of(asked, replies);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& round = asked.rounds[i];
    for (int rank = 0; rank < round.ranks; ++rank) {
      const auto expected = share_of(round, rank);
      const auto& got = table[i][static_cast<std::size_t>(rank)];
      if (got == expected) continue;
      diagnose(asked, table);
      const auto where = asked.is("gather") ? fmt::format("in list[{}] of rank {}", rank, round.root)
                                            : fmt::format("on rank {}", rank);
      ADD_FAILURE() << fmt::format("{}{}: expected {} {}; there is {} ({})", heading(asked, round), how,
                                   text(expected), where, text(got), difference(expected, got));
      return false;
    }
  }
  return true;
}

bool fail(const Asked& asked, const Round& round, int rank, const std::string& what) {
  ADD_FAILURE() << fmt::format("{}: rank {}: {}", heading(asked, round), rank, what);
  return false;
}

// Of one rank and round: whose memory it is. Asked first, as what stands in the caller's tensors tells
// nothing of those that took their place.
bool check_memory(const Asked& asked, const Round& round, int rank, const Json& reply) {
  if (reply.at("in_place")) return true;
  misconception("not_in_place",
                "the tensor was made to point to other memory, and the caller sees nothing of it, or sees "
                "the next change of the root's list in it: receive into its own memory, or copy_ into it");
  return fail(asked, round, rank,
              "a tensor has other memory or another shape than the caller gave; expected the same, written "
              "in place");
}

// Shapes, and that inputs are as before.
bool check_reply(const Asked& asked, const Round& round, int rank, const Json& reply) {
  if (reply.at("inputs") != inputs(asked, round, rank))
    return fail(asked, round, rank, "what was to be sent is changed afterwards; expected as before");
  if (!asked.is("scatter_rows")) return true;
  const Json shape{part_of(round, rank).count, round.columns};
  if (reply.at("shape") != shape)
    return fail(asked, round, rank,
                fmt::format("the part has shape {}; expected {}", reply.at("shape").dump(), shape.dump()));
  if (!reply.at("is_view")) return true;
  misconception("view_of_the_batch",
                "the root's part is a view of the batch: who changes the part changes the batch, and the "
                "batch cannot be freed as long as the part lives");
  return fail(asked, round, rank, "the part lies in the memory of `all`; expected memory of its own");
}

using Check = bool (*)(const Asked& asked, const Round& round, int rank, const Json& reply);
bool each(Check check, const Asked& asked, const std::vector<Json>& replies) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    for (std::size_t i = 0; i < asked.rounds.size(); ++i) {
      if (!check(asked, asked.rounds[i], static_cast<int>(rank), replies[rank].at(i))) return false;
    }
  }
  return true;
}

bool went_well(const judge::SimRun& done) {
  return done.report.ok() && done.built_ins.empty() &&
         std::ranges::all_of(done.ranks, [](const judge::Outcome& outcome) {
           return outcome.completed && !judge::is_error(outcome.reply);
         });
}

// A run that came to nothing: does it work from root 0, or with inputs on all ranks? And which calls were it?
void explain_failure(const Asked& asked, const std::string& how) {
  Asked from_0 = asked;
  for (auto& round : from_0.rounds) round.root = 0;
  const bool other_root =
      std::ranges::any_of(asked.rounds, [](const auto& round) { return round.root != 0; });
  if (other_root && went_well(run(from_0, false, "laptop"))) {
    misconception("root_0_assumed",
                  "root 0 works and other roots do not: whose number is taken for the root's?");
  } else if (went_well(run(asked, false, "laptop", true))) {
    misconception("input_required_everywhere",
                  "it works when all ranks are given what is the root's alone; here only the root has it: "
                  "elsewhere the "
                  "list is empty, or the tensor undefined, so only the root may look into it");
  }
  std::string calls;
  for (const auto& round : asked.rounds)
    calls += (calls.empty() ? "that was " : ", then ") + heading(asked, round);
  ADD_FAILURE() << calls << how;
}

}  // namespace

bool arrived(const Asked& asked, const std::vector<Json>& replies, const std::string& how) {
  return each(check_memory, asked, replies) && check_numbers(asked, replies, how) &&
         each(check_reply, asked, replies);
}

void expect_shares(const Asked& asked) {
  for (const bool eager : {false, true}) {
    const std::string how = eager ? ", eager sends" : "";
    const auto done = run(asked, eager, "laptop");
    const auto replies = answers(done);
    if (replies.empty()) {
      const bool todo =
          std::ranges::any_of(done.ranks, [](const auto& r) { return judge::is_todo(r.reply); });
      if (!todo) explain_failure(asked, how);
      return;
    }
    if (!arrived(asked, replies, how)) return;
  }
}

}  // namespace lab06
