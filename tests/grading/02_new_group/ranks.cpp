// Lab 02, part 5: calls that need to know which rank is which.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab02 {
namespace {

using judge::misconception;

// The slowest of these ranks; among equally slow ones, the first or the last.
int slowest_of(const std::vector<int>& ranks, const Numbers& seconds, bool last) {
  int slowest = ranks.front();
  for (const int rank : ranks) {
    const double here = seconds[static_cast<std::size_t>(rank)],
                 there = seconds[static_cast<std::size_t>(slowest)];
    if (here > there || (last && here == there)) slowest = rank;
  }
  return slowest;
}

// The answer of every rank in one round.
struct Found {
  const Numbers* seconds;
  std::vector<int> slowest;
};

// A wrong idea of the slowest rank, as a formula.
struct Mistaken {
  const char* name;
  const char* in_words;
  int (*answer)(int rank, const Shape&, const Numbers&);
};

const std::vector<Mistaken>& mistakes() {
  static const std::vector<Mistaken> known{
      {"last_of_equals",
       "several ranks are equally slow, and the last of them was taken; fix: return the smallest rank",
       [](int rank, const Shape& s, const Numbers& seconds) {
         return slowest_of(column_of(rank, s), seconds, true);
       }},
      {"seconds_through_f32",
       "the seconds went through f32 (the default dtype), which keeps 24 bits: different times become equal; "
       "fix: use DType::f64",
       [](int rank, const Shape& s, const Numbers& seconds) {
         Numbers as_f32;
         for (const double one : seconds) as_f32.push_back(static_cast<float>(one));
         return slowest_of(column_of(rank, s), as_f32, false);
       }},
      {"group_rank_as_global_rank",
       "this is the slowest rank's group rank in its column, but every other rank knows it by its global "
       "rank; fix: convert it with the group's global_rank()",
       [](int rank, const Shape& s, const Numbers& seconds) {
         return place_of(slowest_of(column_of(rank, s), seconds, false), s).row;
       }},
      {"slowest_of_the_world",
       "this is the slowest of all ranks: a collective without .group uses the default group; fix: pass "
       ".group",
       [](int, const Shape& s, const Numbers& seconds) {
         return slowest_of(row_of(0, {1, s.ranks()}), seconds, false);
       }}};
  return known;
}

void diagnose_slowest(const std::vector<Found>& answers, const Shape& shape) {
  for (const auto& mistake : mistakes()) {
    bool fits = true;
    for (const auto& [seconds, slowest] : answers) {
      for (int rank = 0; rank < shape.ranks(); ++rank)
        fits = fits && slowest[static_cast<std::size_t>(rank)] == mistake.answer(rank, shape, *seconds);
    }
    if (fits) return misconception(mistake.name, mistake.in_words);
  }
}

}  // namespace

void expect_broadcasts(judge::Random& random, const Shape& shape) {
  const int n = shape.ranks();
  std::vector<int> columns;
  for (int column = 0; column < shape.columns; ++column) columns.push_back(column);
  random.shuffle(columns);
  std::vector<std::vector<Numbers>> sent;  // [round][rank]
  for (std::size_t round = 0; round < columns.size(); ++round) {
    const int length = random.between(1, 4);
    sent.emplace_back();
    for (int rank = 0; rank < n; ++rank) sent.back().push_back(small_numbers(random, length, -999, 999));
  }
  judge::SimPlan plan;
  for (int rank = 0; rank < n; ++rank) {
    plan.tasks.push_back(mesh_task("broadcast_in_row", shape));
    for (std::size_t round = 0; round < columns.size(); ++round)
      plan.tasks.back()["rounds"].push_back(
          {{"column", columns[round]}, {"numbers", sent[round][static_cast<std::size_t>(rank)]}});
  }
  const auto done = judge::simulate(plan);
  const auto replies = answers(done);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    for (std::size_t round = 0; round < columns.size(); ++round) {
      const int source = row_of(static_cast<int>(rank), shape)[static_cast<std::size_t>(columns[round])];
      const Numbers& right = sent[round][static_cast<std::size_t>(source)];
      const Numbers got = replies[rank].at(round).at("numbers");
      const bool same_memory = replies[rank].at(round).at("same_memory");
      if (got == right && same_memory) continue;
      if (!same_memory) {
        misconception("another_name",
                      "`t = ...` binds t to other memory and does not fill the caller's tensor; fix: "
                      "broadcast into t itself, or use t.copy_(...)");
      }
      ADD_FAILURE() << fmt::format(
          "rank {} in {} rows x {} columns, broadcast_in_row from column {}: rank {} sends {{{}}}; the "
          "caller's tensor contains {{{}}}{}",
          rank, shape.rows, shape.columns, columns[round], source, fmt::join(right, ", "),
          fmt::join(got, ", "), same_memory ? "" : "; the variable refers to another tensor now");
      return;
    }
  }
  if (!replies.empty())
    expect_no_message_leaves(done, "row", [&](int rank) { return place_of(rank, shape).row; });
}

void expect_slowest(const Shape& shape, const std::vector<Numbers>& rounds) {
  const auto done = run(shape.ranks(), mesh_task("slowest_in_column", shape), rounds);
  const auto replies = answers(done);
  if (replies.empty()) return;
  std::vector<Found> all;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    all.push_back({&rounds[round], {}});
    for (const auto& reply : replies) all.back().slowest.push_back(reply.at(round));
  }
  for (const auto& [seconds, slowest] : all) {
    for (int rank = 0; rank < shape.ranks(); ++rank) {
      const auto column = column_of(rank, shape);
      const int right = slowest_of(column, *seconds, false), got = slowest[static_cast<std::size_t>(rank)];
      if (got == right) continue;
      diagnose_slowest(all, shape);
      ADD_FAILURE() << fmt::format(
          "{} rows x {} columns, the ranks took {{{}}} s: the slowest rank of rank {}'s column {{{}}} is "
          "rank {}; slowest_in_column returned {}",
          shape.rows, shape.columns, fmt::join(*seconds, ", "), rank, fmt::join(column, ", "), right, got);
      return;
    }
  }
  expect_no_message_leaves(done, "column", [&](int rank) { return place_of(rank, shape).column; });
}

}  // namespace lab02
