// Lab 04, parts 3 and 4: a grid in slices of rows, its ghost rows (the halo), and stencil steps on it.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "grid.h"
#include "support.h"

namespace lab04 {
namespace {

using judge::misconception;

struct GhostIdea {
  const char* name;
  const char* in_words;
  // The ghost row of `rank`, above or below, according to this idea.
  Row (*ghost)(const Slices& before, int rank, bool above);
};

const Row& own(const Slices& slices, int rank, bool above) {
  const auto& slice = slices[static_cast<std::size_t>(rank)];
  return above ? slice.front() : slice.back();
}

// The neighbour's row that is `inward` rows from that rank's edge; 0 is its ghost row. At the border: the row
// itself.
Row from_neighbour(const Slices& slices, int rank, bool above, bool its_far_end, std::size_t inward) {
  const int neighbour = above ? rank - 1 : rank + 1;
  if (neighbour < 0 || neighbour >= static_cast<int>(slices.size())) return own(slices, rank, above);
  const auto& slice = slices[static_cast<std::size_t>(neighbour)];
  const bool at_its_front = above == its_far_end;
  return at_its_front ? slice[inward] : slice[slice.size() - 1 - inward];
}

Row right_ghost(const Slices& slices, int rank, bool above) {
  return from_neighbour(slices, rank, above, false, 1);
}

const std::vector<GhostIdea>& ghost_ideas() {
  static const std::vector<GhostIdea> known{
      {"nothing_came", "the ghost rows are unchanged; fix: receive into the rows of field itself",
       [](const Slices& s, int rank, bool above) { return own(s, rank, above); }},
      {"sends_ghost_rows",
       "these are the neighbours' ghost rows; fix: send the rank's own first and last row, field[1] and "
       "field[rows]",
       [](const Slices& s, int rank, bool above) { return from_neighbour(s, rank, above, false, 0); }},
      {"sends_the_far_row",
       "these are the neighbours' rows from the wrong end: the row above this rank's first row is the LAST "
       "row of rank - 1; fix: send the first row up and the last row down",
       [](const Slices& s, int rank, bool above) { return from_neighbour(s, rank, above, true, 1); }},
      {"the_grid_as_a_ring",
       "the first and the last rank are treated as neighbours, but the grid has a border: rank 0 has no "
       "neighbour above and the last rank none below; fix: leave these messages out",
       [](const Slices& s, int rank, bool above) {
         const int n = static_cast<int>(s.size());
         const auto& slice = s[static_cast<std::size_t>((rank + (above ? n - 1 : 1)) % n)];
         return above ? slice[slice.size() - 2] : slice[1];
       }},
      {"ghosts_swapped",
       "the two ghost rows are swapped; fix: receive the row above into field[0] and the row below into "
       "field[rows + 1]",
       [](const Slices& s, int rank, bool above) {
         const int n = static_cast<int>(s.size());
         const bool is_lonely = (rank == 0 && !above) || (rank == n - 1 && above);
         return is_lonely ? own(s, rank, above) : right_ghost(s, rank, !above);
       }}};
  return known;
}

Slices with_ghosts(const Slices& before, Row (*ghost)(const Slices&, int, bool)) {
  Slices after = before;
  for (std::size_t rank = 0; rank < after.size(); ++rank) {
    after[rank].front() = ghost(before, static_cast<int>(rank), true);
    after[rank].back() = ghost(before, static_cast<int>(rank), false);
  }
  return after;
}

void check_ghosts(const Slices& before, const Slices& got, const Grid& grid) {
  const auto right = with_ghosts(before, right_ghost);
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    for (std::size_t row = 0; row < right[rank].size(); ++row) {
      if (got[rank][row] == right[rank][row]) continue;
      for (const auto& idea : ghost_ideas()) {
        if (got != with_ghosts(before, idea.ghost)) continue;
        misconception(idea.name, idea.in_words);
        break;
      }
      const bool is_ghost = row == 0 || row + 1 == right[rank].size();
      if (!is_ghost)
        misconception("own_row_overwritten",
                      "one of the rank's own rows was overwritten; fix: send field[1] and field[rows], and "
                      "receive into field[0] and field[rows + 1]");
      ADD_FAILURE() << fmt::format(
          "exchange_ghosts on {}: {} row field[{}] of rank {} must begin with {} and end with {}; it begins "
          "with {} and ends with {}",
          grid.text(), is_ghost ? "ghost" : "own", row, rank, right[rank][row][0], right[rank][row][1],
          got[rank][row][0], got[rank][row][1]);
      return;
    }
  }
}

judge::SimRun run_exchange(const Slices& before, const Grid& grid, const How& how) {
  return run("exchange_ghosts on " + grid.text(), grid_tasks({{"call", "exchange_ghosts"}}, before, grid),
             how);
}

// The source lines where a rank calls point-to-point operations.
bool one_call_on_each(const judge::SimRun& done) {
  for (int rank = 0; rank < static_cast<int>(done.ranks.size()); ++rank) {
    std::vector<std::string> places;
    for (const auto& event : done.report.trace.events) {
      if (event.kind != dist::trace::Kind::call || event.rank != rank) continue;
      if (std::ranges::find(places, event.where.str()) == places.end()) places.push_back(event.where.str());
    }
    if (places.size() <= 1) continue;
    ADD_FAILURE() << fmt::format(
        "rank {}: all operations must be started by one batch_isend_irecv; they were started at {}", rank,
        fmt::join(places, ", "));
    return false;
  }
  return true;
}

}  // namespace

std::string Grid::text() const {
  return fmt::format("{} with {} of {}{}", counted(ranks, "rank"), counted(rows, "row"),
                     counted(columns, "element"), ranks == 1 ? "" : " each");
}

Slices draw_slices(judge::Random& random, const Grid& grid) {
  Slices slices(static_cast<std::size_t>(grid.ranks));
  for (auto& slice : slices) {
    for (const double first : small_numbers(random, grid.all_rows()))
      slice.push_back({first, first + static_cast<double>((grid.columns - 1) % 5)});
  }
  return slices;
}

std::vector<Json> grid_tasks(const Json& task, const Slices& slices, const Grid& grid) {
  std::vector<Json> tasks;
  for (const auto& slice : slices) {
    Json its = task;
    its["columns"] = grid.columns;
    for (const auto& row : slice) its["values"].push_back(row[0]);
    tasks.push_back(its);
  }
  return tasks;
}

Slices slices_of(const std::vector<Json>& fields, const Grid& grid) {
  Slices slices;
  for (std::size_t rank = 0; rank < fields.size(); ++rank) {
    slices.push_back(fields[rank]);
    if (slices.back().size() == static_cast<std::size_t>(grid.all_rows())) continue;
    ADD_FAILURE() << fmt::format("{}: field must keep its {} rows; on rank {} it has {}", grid.text(),
                                 grid.all_rows(), rank, slices.back().size());
    return {};
  }
  return slices;
}

void expect_ghosts(judge::Random& random, const Grid& grid, const How& how) {
  const auto before = draw_slices(random, grid);
  const auto done = run_exchange(before, grid, how);
  const auto got = slices_of(answers(done), grid);
  check_ghosts(before, got, grid);
}

void expect_one_batch_at_once(int ranks) {
  judge::Random random("batch");
  const Grid grid{ranks, 2, many};
  const auto before = draw_slices(random, grid);
  const auto done = run_exchange(before, grid, {.timed = true});
  const auto got = slices_of(answers(done), grid);
  if (got.empty()) return;
  check_ghosts(before, got, grid);
  const double chain = (ranks - 1) * transfer_seconds();
  expect_within(done, exchange_seconds(), fmt::format("{} ranks exchange rows at the same time", ranks),
                {{"one_neighbour_after_the_other",
                  "each rank finishes with the neighbour above before it starts with the one below, so the "
                  "exchanges follow each other from rank to rank; fix: start all four operations, then wait",
                  chain}});
  one_call_on_each(done);
}

}  // namespace lab04
