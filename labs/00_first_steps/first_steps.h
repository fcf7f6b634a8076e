// Lab 00, the specification: first steps.
// You write these functions in first_steps.cpp. Do not change this file.
//
// The program runs as n processes at the same time; n may be 1. Each process is one rank, and every rank
// calls every function.
#pragma once

#include <string>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. Joins the group of all ranks, and says which rank this is.
// - Output: "rank R of N", where R is this rank's number, counted from 0, and N the number of ranks.
// - Constraint: introduce() is the first call of the program. No rank can ask for its number before it has
//   joined, so call dist::init_process_group() first.
// - Example: if four ranks run, the one with number 2 returns "rank 2 of 4".
std::string introduce();

// Part 2. Returns the sum of `mine` over all ranks, the same on every rank.
// - Input: the number that this rank contributes. The ranks have joined already.
// - Constraint: one all_reduce.
// - Example: four ranks contribute 1, 2, 3 and 4. Every rank returns 10.
float sum_of_all(float mine);

// Part 3. Returns the mean of `mine` over all ranks, the same on every rank.
// - Input: as in Part 2.
// - Constraint: one all_reduce. You may call sum_of_all().
// - Example: four ranks contribute 1, 2, 3 and 4. Every rank returns 2.5.
float mean_of_all(float mine);

}  // namespace lab
