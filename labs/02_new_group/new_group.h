// Lab 02, the contract: groups within the group.
// You write these functions in new_group.cpp; this file stays as it is.
//
// All of them are called by every rank of the job after init_process_group(). "The world" is the default
// group, n its size. A number is a double, and travels as one (DType::f64).
#pragma once

#include <array>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Both halves of the world, on every rank. A rank is a member of one of them; the handle on the other is a
// handle without membership (is_member() is false), as dist::new_group returns it.
struct Halves {
  dist::ProcessGroup lower, upper;
};

// Part 1. Ranks 0, 1, ... are the lower half, the rest is the upper half, each in ascending order. With an
// odd n the lower half has one rank more. n is at least 2.
// Every rank calls dist::new_group for both halves, in the same order.
Halves make_halves();

// Part 2. The sum of `mine` over the ranks of the caller's half: one all_reduce in that half. No message
// leaves the half.
double half_sum(const Halves& halves, double mine);

// Part 3. The sums of both halves, {lower, upper}, the same on every rank. Sums may be of any sign.
// Two all_reduces on each rank: one in its half, and one with MAX over the world, of a tensor of two
// elements.
std::array<double, 2> both_sums(const Halves& halves, double mine);

// The world as a table of rows x columns, written row by row: rank = row * columns + column.
struct Mesh {
  dist::ProcessGroup row, column;  // those of the caller: ranks ascending
  int my_row = 0, my_column = 0;   // from 0
};

// Part 4. This rank's place in the mesh, and its two groups. Every rank calls dist::new_group for every row,
// from row 0 on, then for every column.
// Throws dist::Error{invalid_argument} unless rows and columns are positive and rows * columns is n. Then no
// group has been made.
Mesh make_mesh(int rows, int columns);

// Part 5. `t` of the rank in my row and in column number `column`, on all ranks of my row, in place: one
// broadcast in each row.
void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column);

// Part 5. Every rank gives the seconds that its part of the work took. Returns the global rank of the slowest
// in my column, the same on all ranks of the column; among equally slow ones the smallest rank. No message
// leaves the column.
int slowest_in_column(const Mesh& mesh, double seconds);

}  // namespace lab
