// Lab 02, part 4: rows and columns.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab02 {

Place place_of(int rank, const Shape& shape) { return {rank / shape.columns, rank % shape.columns}; }

std::vector<int> row_of(int rank, const Shape& shape) {
  std::vector<int> ranks;
  for (int column = 0; column < shape.columns; ++column)
    ranks.push_back(place_of(rank, shape).row * shape.columns + column);
  return ranks;
}

std::vector<int> column_of(int rank, const Shape& shape) {
  std::vector<int> ranks;
  for (int row = 0; row < shape.rows; ++row)
    ranks.push_back(row * shape.columns + place_of(rank, shape).column);
  return ranks;
}

Json mesh_task(const char* call, const Shape& shape) {
  return {{"call", call}, {"rows", shape.rows}, {"columns", shape.columns}};
}

namespace {

using judge::misconception;

// A wrong idea of the mesh's positions, as a formula. If the formula gives all of the answers, the submission
// has this idea.
struct Misplacement {
  const char* name;
  const char* in_words;
  Place (*place)(int rank, const Shape&);
};

const std::vector<Misplacement>& misplacements() {
  static const std::vector<Misplacement> known{
      {"row_and_column_swapped", "my_row and my_column are swapped",
       [](int rank, const Shape& s) {
         return Place{rank % s.columns, rank / s.columns};
       }},
      {"ranks_run_down_the_columns",
       "the ranks are numbered column by column; fix: number them row by row, rank = row * columns + column",
       [](int rank, const Shape& s) {
         return Place{rank % s.rows, rank / s.rows};
       }},
      {"square_mesh_assumed",
       "the rank is divided by the number of rows; fix: divide by the number of columns, which is the length "
       "of a row (the two are equal in a square only)",
       [](int rank, const Shape& s) {
         return Place{rank / s.rows, rank % s.rows};
       }}};
  return known;
}

void diagnose_places(const std::vector<Json>& replies, const Shape& shape) {
  const auto fit = [&](Place (*place)(int rank, const Shape&)) {
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const Place got{replies[rank].at("my_row"), replies[rank].at("my_column")};
      if (got != place(static_cast<int>(rank), shape)) return false;
    }
    return true;
  };
  if (fit(place_of)) return;
  for (const auto& idea : misplacements()) {
    if (fit(idea.place)) return misconception(idea.name, idea.in_words);
  }
}

std::string in_words(const Json& group) {
  if (group.is_null()) return "an empty handle";
  return fmt::format("{{{}}}", fmt::join(group.at("ranks").get<std::vector<int>>(), ", "));
}

Json member(const std::vector<int>& ranks, int rank) {
  return {{"ranks", ranks}, {"rank", std::ranges::find(ranks, rank) - ranks.begin()}};
}

// Whether the position and the groups of `rank` are right. Reports the first difference.
bool check_place(const std::vector<Json>& replies, int rank, const Shape& shape) {
  const Json& reply = replies[static_cast<std::size_t>(rank)];
  const Place right = place_of(rank, shape), got{reply.at("my_row"), reply.at("my_column")};
  const auto who = fmt::format("rank {} in {} rows x {} columns", rank, shape.rows, shape.columns);
  const Json row = member(row_of(rank, shape), rank), column = member(column_of(rank, shape), rank);
  if (got == right && reply.at("row") == row && reply.at("column") == column) return true;
  diagnose_places(replies, shape);
  if (got != right) {
    ADD_FAILURE() << fmt::format("{} is in row {}, column {}; make_mesh returned row {}, column {}", who,
                                 right.row, right.column, got.row, got.column);
    return false;
  }
  if (reply.at("row") == column && reply.at("column") == row) {
    misconception("row_and_column_swapped",
                  "the two groups are swapped: a row contains the ranks with the same row number");
  }
  ADD_FAILURE() << fmt::format("{} has the row {} and the column {}; make_mesh returned {} and {}", who,
                               in_words(row), in_words(column), in_words(reply.at("row")),
                               in_words(reply.at("column")));
  return false;
}

}  // namespace

void expect_mesh(const Shape& shape) {
  const auto replies = answers(run(shape.ranks(), mesh_task("make_mesh", shape)));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (!check_place(replies, static_cast<int>(rank), shape)) return;
  }
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (!replies[rank].at("columns_first")) continue;
    misconception(
        "columns_first",
        "the ranks create the column before the row; fix: create all rows before all columns, in the same "
        "order on every rank: ranks that create the same groups in different orders wait for each other");
    ADD_FAILURE() << fmt::format(
        "rank {} in {} rows x {} columns must make the rows before the columns; its column was made before "
        "its row",
        rank, shape.rows, shape.columns);
    return;
  }
  // The groups' numbers ascend in the order in which they were made.
  for (std::size_t rank = 0; rank + 1 < replies.size(); ++rank) {
    const auto row = [&](std::size_t of) { return replies[of].at("row_made").get<std::uint64_t>(); };
    if (row(rank) <= row(rank + 1)) continue;
    misconception("rows_backwards", "the rows are not made from row 0 on; fix: begin with row 0");
    ADD_FAILURE() << fmt::format("make_mesh({}, {}): the group of row {} was made after that of row {}",
                                 shape.rows, shape.columns, place_of(static_cast<int>(rank), shape).row,
                                 place_of(static_cast<int>(rank) + 1, shape).row);
    return;
  }
  expect_groups_made(replies, shape.rows + shape.columns, "every row and every column");
}

void expect_refused(int world_size, const Shape& shape) {
  const auto not_checked = [] {
    misconception("mesh_not_checked",
                  "a mesh that does not fit the world leaves ranks without a position, or needs ranks that "
                  "do not exist; fix: check rows and columns before the first new_group");
  };
  const auto done = run(world_size, mesh_task("refusal", shape));
  if (!done.report.findings.empty()) not_checked();  // a mesh that was not rejected has led to a deadlock
  const auto replies = answers(done);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Json& code = replies[rank].at("code");
    const int groups = replies[rank].at("groups");
    if (code == "invalid_argument" && groups == 0) continue;
    not_checked();
    ADD_FAILURE() << fmt::format(
        "rank {} of {}: make_mesh({}, {}) must throw Error{{invalid_argument}} before any new_group; it {} "
        "after {}",
        rank, world_size, shape.rows, shape.columns,
        code.is_null() ? "returned normally" : "threw " + code.get<std::string>(), groups);
    return;
  }
}

}  // namespace lab02
