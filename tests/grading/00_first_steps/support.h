// What the grading of lab 00 is made of: runs of simulated ranks, the expected values, and the ideas behind
// wrong ones.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/exam.h"
#include "judge/sim_run.h"

namespace lab00 {

using judge::Json;

// The number that each rank contributes: small integers, whose sum is exact in any order.
using Numbers = std::vector<double>;
Numbers one_to(int ranks);  // {1, 2, ..., ranks}, the handout's example
Numbers small_numbers(judge::Random& random, int ranks);
// These numbers, then others whose sum differs from any multiple of theirs, then these again.
std::vector<Numbers> and_others_between(judge::Random& random, const Numbers& numbers);

// Calls one function on every rank, once for each of `rows`, in one program.
using Rows = std::vector<Numbers>;
judge::SimRun run(const std::string& call, const Rows& rows);
// Like SimRun::answers() with all collectives allowed; it also names the misconception that a finding or an
// error of the library shows.
std::vector<Json> answers(const judge::SimRun& done);

// How often this rank has called all_reduce.
int all_reduces(const judge::SimRun& done, int rank);

// Part 1: checks what introduce() returns on this many ranks.
void expect_names(int ranks);
// Parts 2 and 3: checks the sum or the mean ("sum_of_all", "mean_of_all") on every rank. Returns the run.
judge::SimRun expect_numbers(const std::string& call, const Rows& rows);
// The same, by one all_reduce on each rank and no other collective.
void expect_one_all_reduce(const std::string& call);

}  // namespace lab00
