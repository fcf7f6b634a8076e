// Lab 02, the specification: groups within the group.
// You write these functions in new_group.cpp. Do not change this file.
//
// Every rank of the job calls every function, after init_process_group(). "The world" is the default group,
// and n is its size. Numbers are doubles, and they are sent as f64 (DType::f64).
#pragma once

#include <array>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Both halves of the world, on every rank. A rank is a member of one of them. The other handle is the one
// that dist::new_group returns to a rank that is not a member: its is_member() is false.
struct Halves {
  dist::ProcessGroup lower, upper;
};

// Part 1. Makes the groups of both halves.
// - Output: the ranks 0, 1, ... are the lower half, the remaining ranks the upper half, both in ascending
//   order. If n is odd, the lower half has one rank more. n is at least 2.
// - Constraint: every rank calls dist::new_group for both halves, in the same order.
// - Example: for n = 5 the lower half is {0, 1, 2} and the upper half {3, 4}.
Halves make_halves();

// Part 2. Returns the sum of `mine` over the ranks of the caller's half.
// - Constraint: one all_reduce in that half; no message leaves the half.
// - Example: n = 5, and rank r contributes r. The result is 3 on ranks 0, 1 and 2, and 7 on ranks 3 and 4.
double half_sum(const Halves& halves, double mine);

// Part 3. Returns the sums of both halves, {lower, upper}, the same on every rank. The sums may have any
// sign.
// - Constraint: two all_reduces per rank: one in its half, and one with MAX over the world, on a tensor with
//   two elements.
// - Example: n = 5, and rank r contributes r. Every rank returns {3, 7}.
std::array<double, 2> both_sums(const Halves& halves, double mine);

// The world as a table of rows x columns, numbered row by row: rank = row * columns + column.
struct Mesh {
  dist::ProcessGroup row, column;  // the caller's row and column, with their ranks in ascending order
  int my_row = 0, my_column = 0;   // counted from 0
};

// Part 4. Makes the groups of all rows and columns, and returns this rank's place and its two groups.
// - Constraint: every rank calls dist::new_group for every row, beginning with row 0, and then for every
//   column.
// - Error: dist::Error{invalid_argument} unless rows and columns are positive and rows * columns is n. It is
//   thrown before the first group is made.
// - Example: on rank 6 of 8, make_mesh(2, 4) returns my_row 1, my_column 2, the row {4, 5, 6, 7} and the
//   column {2, 6}.
Mesh make_mesh(int rows, int columns);

// Part 5. Copies the `t` of the rank in my row and in column `column` into the `t` of all ranks of my row, in
// place.
// - Constraint: one broadcast in each row.
// - Example: in a mesh of 2 x 4 and for column 3, ranks 0 to 3 get the values of rank 3, ranks 4 to 7 those
//   of rank 7.
void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column);

// Part 5. Finds the slowest rank of a column.
// - Input: the seconds that this rank's work took.
// - Output: the global rank of the slowest rank in my column, the same on all ranks of the column. If several
//   are equally slow, the smallest of these ranks.
// - Constraint: no message leaves the column.
// - Example: if rank 2 took 6 s and rank 6 took 2 s, both return 2.
int slowest_in_column(const Mesh& mesh, double seconds);

}  // namespace lab
