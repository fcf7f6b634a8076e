// Lab 06: where the chunks are after a call.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab06 {
namespace {

using judge::misconception;

// What would be in the place of a rank's chunk if an idea were right.
struct Idea {
  const char* name;
  const char* in_words;
  std::function<Numbers(const Round&, int rank)> numbers;
};

// The rows [first, first + count), as far as they exist.
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
       "the root's own chunk is missing, all others are right; fix: copy it on the root, because no message "
       "brings it",
       [](const Round& r, int rank) { return rank == r.root ? garbage(r, rank) : share_of(r, rank); }},
      {"nothing_arrives",
       "the caller's tensors are unchanged: nothing was written into them; fix: receive into them, or copy_ "
       "into them",
       [](const Round& r, int rank) { return garbage(r, rank); }},
      {"shares_by_place",
       "each rank has the chunk of its relative rank, counted from the root; fix: chunk r of `all` belongs "
       "to rank r, so sort the chunks by relative rank on the root before you cut out the subtrees",
       [](const Round& r, int rank) { return share_of(r, place_of(rank, r.root, r.ranks)); }},
      {"first_share_for_all", "every rank has chunk 0; fix: send rank r the chunk r",
       [](const Round& r, int) { return share_of(r, 0); }},
      {"remainder_dropped",
       "every part has rows / n rows, rounded down, and no rank has the rows that are left over; fix: give "
       "one "
       "each to the first ranks",
       [](const Round& r, int rank) { return rows_of(r, rank * (r.rows() / r.ranks), r.rows() / r.ranks); }},
      {"last_takes_the_rest",
       "the last rank has all rows that are left over, up to n - 1 of them, and all ranks wait for it; fix: "
       "give one each to the first ranks",
       [](const Round& r, int rank) {
         const int each = r.rows() / r.ranks;
         return clipped(r, rank * each, rank == r.ranks - 1 ? r.rows() : each);
       }},
      {"size_rounded_up",
       "the size of a part was rounded up, so the last ranks have too few rows or none; fix: let the sizes "
       "differ by at most one",
       [](const Round& r, int rank) {
         const int each = (r.rows() + r.ranks - 1) / r.ranks;
         return clipped(r, rank * each, each);
       }},
      {"longer_parts_not_first",
       "the sizes are right, but the larger parts are not the first ones (Tensor::chunk places them "
       "elsewhere); fix: give one row more to each of the first rows % n ranks",
       [](const Round& r, int rank) {
         const int begin = rank * r.rows() / r.ranks, end = (rank + 1) * r.rows() / r.ranks;
         return rows_of(r, begin, end - begin);
       }},
      {"dealt_in_turn",
       "the rows were dealt one by one, like cards; fix: make each part a contiguous run of rows",
       dealt_in_turn}};
  return known;
}

using Table = std::vector<std::vector<Numbers>>;  // [round][rank]: what is in the place of its chunk

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

// All chunks are in the list, in another order.
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

// What some rank should have after another call is in its place after this one.
bool has_one_of_another_call(const Asked& asked, const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (int rank = 0; rank < asked.world_size(); ++rank) {
      const auto& got = table[i][static_cast<std::size_t>(rank)];
      const auto is_its = [&](const Round& other) { return share_of(other, rank) == got; };
      if (got.empty() || is_its(asked.rounds[i])) continue;
      if (std::ranges::any_of(asked.rounds, is_its)) return true;
    }
  }
  return false;
}

void diagnose(const Asked& asked, const Table& table) {
  if (asked.is("gather") && is_out_of_order(asked, table)) {
    misconception("order_by_arrival",
                  "the chunks are in the order in which they arrived; fix: receive from each rank by its "
                  "number, because list[r] belongs to rank r");
  }
  for (const auto& idea : ideas()) {
    if (fits(asked, table, idea)) return misconception(idea.name, idea.in_words);
  }
  if (has_one_of_another_call(asked, table)) judge::calls_mixed();
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
      ADD_FAILURE() << fmt::format("{}{}: expected {} {}; it is {} ({})", heading(asked, round), how,
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

// Whose memory the tensors of one rank and round are. Checked first, because the values in the caller's
// tensors say nothing about tensors that replaced them.
bool check_memory(const Asked& asked, const Round& round, int rank, const Json& reply) {
  if (reply.at("in_place")) return true;
  misconception(
      "not_in_place",
      "the tensor now refers to other memory, so the caller does not see the result, or sees the next change "
      "of the root's list in it; fix: receive into the tensor's own memory, or copy_ into it");
  return fail(asked, round, rank,
              "a tensor has other memory or another shape than the caller gave; expected the same memory, "
              "written in place");
}

// Checks shapes, and that inputs are unchanged.
bool check_reply(const Asked& asked, const Round& round, int rank, const Json& reply) {
  if (reply.at("inputs") != inputs(asked, round, rank)) {
    misconception("changes_its_input",
                  "the function has changed what it only reads, for example by reordering the chunks in "
                  "`all`; fix: reorder them in a copy");
    return fail(asked, round, rank,
                "the tensors to be sent were changed by the call; they must stay as they were");
  }
  if (!asked.is("scatter_rows")) return true;
  const Json shape{part_of(round, rank).count, round.columns};
  if (reply.at("shape") != shape)
    return fail(asked, round, rank,
                fmt::format("the part has shape {}; expected {}", reply.at("shape").dump(), shape.dump()));
  if (!reply.at("is_view")) return true;
  misconception("view_of_the_batch",
                "the root's part is a view of the batch: a change of the part changes the batch, and the "
                "batch's memory cannot be freed while the part exists; fix: copy the part");
  return fail(asked, round, rank, "the part is in the memory of `all`; expected memory of its own");
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

// After a failed run: does it work from root 0, or with inputs on all ranks? And which calls were made?
void explain_failure(const Asked& asked, const std::string& how) {
  Asked from_0 = asked;
  for (auto& round : from_0.rounds) round.root = 0;
  const bool other_root =
      std::ranges::any_of(asked.rounds, [](const auto& round) { return round.root != 0; });
  if (other_root && went_well(run(from_0, false, "laptop"))) {
    root_0_assumed();
  } else if (went_well(run(asked, false, "laptop", true))) {
    misconception(
        "input_required_everywhere",
        "the calls work if all ranks are given the root's input, but only the root has it; fix: read the "
        "list or the tensor `all` on the root only, because it is empty or undefined on the other ranks");
  }
  std::string calls;
  for (const auto& round : asked.rounds)
    calls += (calls.empty() ? "the calls were " : ", then ") + heading(asked, round);
  ADD_FAILURE() << calls << how;
}

}  // namespace

void root_0_assumed() {
  misconception("root_0_assumed",
                "root 0 works and another root does not; fix: count rank numbers from the root");
}

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

void expect_calls_apart(judge::Random& random, Asked asked) {
  for (const auto& overlap : judge::overlaps(random, asked.world_size())) {
    for (auto& round : asked.rounds) round.delays_us = overlap.delays_us;
    const auto done = run(asked, false, "laptop", false, overlap.schedule);
    const auto replies = answers(done);
    const auto how = fmt::format(", one of {} calls in a row{}", asked.rounds.size(), overlap.text);
    if (replies.empty() && !judge::is_todo(done.ranks[0].reply))
      ADD_FAILURE() << fmt::format("this happened in {} on {} ranks{}", asked.call, asked.world_size(), how);
    if (replies.empty() || !arrived(asked, replies, how)) return;
  }
}

}  // namespace lab06
