// What the grading of lab 02 is made of: runs of simulated ranks, and the expected values.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab02 {

using judge::Json;

// One number per rank.
using Numbers = std::vector<double>;

inline int lower_size(int world_size) { return (world_size + 1) / 2; }

// Runs `task` on this many ranks. If `numbers` are given, rank r gets numbers[round][r] in each round.
judge::SimRun run(int world_size, Json task, const std::vector<Numbers>& rounds = {});

// Like SimRun::answers(); it also names the misconception that a finding or an error of the library shows.
// All of the library's collectives are allowed: this lab is about groups.
std::vector<Json> answers(const judge::SimRun& run);

// Checks that no rank has made more groups than this; `of_what` is for example "both halves".
void expect_groups_made(const std::vector<Json>& replies, int groups, const std::string& of_what);

// part_of(rank): the number of the half, row or column that the rank is in; `kind` names it.
void expect_no_message_leaves(const judge::SimRun& run, const std::string& kind,
                              const std::function<int(int rank)>& part_of);

// Small integers, whose sums are exact in any order.
Numbers small_numbers(judge::Random& random, int count, int low, int high);
// One number that f32 cannot represent; the other ranks contribute zero.
Numbers one_large_number(judge::Random& random, int count);

// Parts 1 to 3.
void expect_halves(int world_size);
judge::SimRun expect_half_sums(int world_size, const std::vector<Numbers>& rounds);
judge::SimRun expect_both_sums(int world_size, const std::vector<Numbers>& rounds);
// In a run with this many calls of both_sums(): per call one all_reduce in the half and one of two elements
// over the world.
void expect_one_exchange_each(const judge::SimRun& run, int rounds);

// Parts 4 and 5.
struct Shape {
  int rows, columns;
  int ranks() const { return rows * columns; }
};
struct Place {
  int row, column;
  friend bool operator==(const Place&, const Place&) = default;
};
Place place_of(int rank, const Shape& shape);
std::vector<int> row_of(int rank, const Shape& shape);  // the row's ranks
std::vector<int> column_of(int rank, const Shape& shape);
Json mesh_task(const char* call, const Shape& shape);

void expect_mesh(const Shape& shape);
void expect_refused(int world_size, const Shape& shape);
void expect_broadcasts(judge::Random& random, const Shape& shape);
void expect_slowest(const Shape& shape, const std::vector<Numbers>& rounds);

}  // namespace lab02
