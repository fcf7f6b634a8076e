// Lab 04, part 4: stencil steps on the grid, with the exchange overlapped.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "grid.h"
#include "support.h"

namespace lab04 {
namespace {

using judge::misconception;

// The runner's stencil.
Row next_row(const Row& above, const Row& row, const Row& below) {
  Row next{};
  for (std::size_t i = 0; i < row.size(); ++i)
    next[i] = static_cast<double>(static_cast<long>(above[i] + 2 * row[i] + 3 * below[i]) % 97);
  return next;
}

struct Wrong {
  bool exchanges = true;     // ghost rows with the neighbours, in every step
  bool in_place = false;     // the row above is already the new one
  bool border_lost = false;  // the tensor of every second step has 0 there
};

void exchange(Slices& slices) {
  for (std::size_t rank = 0; rank + 1 < slices.size(); ++rank) {
    auto &upper = slices[rank], &lower = slices[rank + 1];
    upper.back() = lower[1];
    lower.front() = upper[upper.size() - 2];
  }
}

void make_step(Slice& slice, const Wrong& wrong) {
  const Slice old = slice;
  for (std::size_t row = 1; row + 1 < slice.size(); ++row)
    slice[row] = next_row((wrong.in_place ? slice : old)[row - 1], old[row], old[row + 1]);
}

void set_border(Slices& slices, const Row& upper, const Row& lower) {
  slices.front().front() = upper;
  slices.back().back() = lower;
}

Slices relaxed(Slices slices, int steps, const Wrong& wrong = {}) {
  const Row upper = slices.front().front(), lower = slices.back().back();
  for (int step = 0; step < steps; ++step) {
    if (wrong.exchanges) exchange(slices);
    for (auto& slice : slices) make_step(slice, wrong);
    if (wrong.border_lost && step % 2 == 0)
      set_border(slices, {}, {});
    else
      set_border(slices, upper, lower);
  }
  return slices;
}

// The own rows and the border; what the inner ghost rows hold does not matter.
bool counts(const Slices& slices, std::size_t rank, std::size_t row) {
  const auto last_row = slices[rank].size() - 1;
  return (row > 0 || rank == 0) && (row < last_row || rank + 1 == slices.size());
}

// The first difference: {rank, row}, or {number of ranks, ...} if there is none.
std::pair<std::size_t, std::size_t> first_difference(const Slices& a, const Slices& b) {
  for (std::size_t rank = 0; rank < a.size(); ++rank) {
    for (std::size_t row = 0; row < a[rank].size(); ++row) {
      if (counts(a, rank, row) && a[rank][row] != b[rank][row]) return {rank, row};
    }
  }
  return {a.size(), 0};
}

bool border_differs(const Slices& a, const Slices& b) {
  return a.front().front() != b.front().front() || a.back().back() != b.back().back();
}

void diagnose(const Slices& before, const Slices& got, int steps) {
  const auto is = [&](const Wrong& wrong) {
    return first_difference(got, relaxed(before, steps, wrong)).first == got.size();
  };
  if (is({.exchanges = false})) {
    misconception("never_exchanges",
                  "every rank has worked by itself; fix: exchange the ghost rows in each step, because each "
                  "step needs the neighbours' new rows");
  } else if (is({.in_place = true})) {
    misconception("new_rows_over_old_ones",
                  "a row was computed from a row that is already new; fix: write the new rows into a tensor "
                  "of their own until the step is complete");
  } else if (is({.border_lost = true}) || border_differs(before, got)) {
    misconception(
        "border_changed",
        "no step may change the border of the grid; fix: copy the border into the second tensor, too");
  }
}

std::string about(const Grid& grid, int steps) {
  return fmt::format("relax on {}, {}", grid.text(), counted(steps, "step"));
}

void check_relaxed(const Slices& before, const Slices& got, const Grid& grid, int steps) {
  const auto right = relaxed(before, steps);
  const auto [rank, row] = first_difference(right, got);
  if (rank == right.size()) return;
  diagnose(before, got, steps);
  ADD_FAILURE() << fmt::format(
      "{}: field[{}] of rank {} must begin with {} and end with {}, as on one rank; it begins with {} and "
      "ends with {}",
      about(grid, steps), row, rank, right[rank][row][0], right[rank][row][1], got[rank][row][0],
      got[rank][row][1]);
}

judge::SimRun run_relax(const Slices& before, const Grid& grid, int steps, double row_seconds,
                        const How& how) {
  const Json task{{"call", "relax"}, {"steps", steps}, {"seconds", row_seconds}};
  return run(about(grid, steps), grid_tasks(task, before, grid), how);
}

// Whether there was a right answer; checks the calls of the rule and the rows.
bool check_answers(const std::vector<Json>& replies, const Slices& before, const Grid& grid, int steps) {
  std::vector<Json> fields;
  for (const auto& reply : replies) fields.push_back(reply.at("field"));
  const auto got = slices_of(fields, grid);
  if (got.empty()) return false;
  check_relaxed(before, got, grid, steps);
  if (testing::Test::HasFailure()) return false;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const int calls = replies[rank].at("calls");
    if (calls == steps * grid.rows) continue;
    misconception("makes_rows_twice",
                  "each step computes every own row once; with a single row, the first row is also the last; "
                  "fix: if rows = 1, compute it once");
    ADD_FAILURE() << fmt::format("{}: rank {} must call the rule {}; it made {}", about(grid, steps), rank,
                                 counted(steps * grid.rows, "time"), counted(calls, "call"));
    return false;
  }
  return true;
}

}  // namespace

void expect_relaxed(judge::Random& random, const Grid& grid, int steps, const How& how) {
  const auto before = draw_slices(random, grid);
  check_answers(answers(run_relax(before, grid, steps, 1e-6, how)), before, grid, steps);
}

void expect_relax_time(int ranks, int steps, double row_seconds) {
  judge::Random random("relax");
  const Grid grid{ranks, 6, many};
  const auto before = draw_slices(random, grid);
  const auto done = run_relax(before, grid, steps, row_seconds, {.timed = true});
  if (!check_answers(answers(done), before, grid, steps)) return;
  for (int rank = 0; rank < ranks; ++rank)
    if (!judge::has_computed(done, rank, steps * grid.rows * row_seconds)) return;
  const double exchange = ranks == 2 ? transfer_seconds() : exchange_seconds();
  const double inner = (grid.rows - 2) * row_seconds, edges = 2 * row_seconds;
  const double all_in_sequence =
      ranks == 2 ? steps * (transfer_seconds() + inner + edges) : done.report.virtual_time_s;
  expect_within(done, steps * (std::max(inner, exchange) + edges),
                fmt::format("{} steps, each max(inner rows {}, exchange {}) + edge rows {}", steps,
                            in_us(inner), in_us(exchange), in_us(edges)),
                {{"ghosts_before_any_row",
                  "no row is computed before the ghost rows have arrived, though only the first and the last "
                  "row need them; fix: compute the inner rows while the exchange is running",
                  all_in_sequence},
                 {"first_exchange_alone",
                  "all exchanges are hidden except that of the first step; fix: compute the inner rows of "
                  "the first step, too, while its exchange is running",
                  exchange + (steps - 1) * (std::max(inner, exchange) + edges) + inner + edges}});
}

}  // namespace lab04
