// What the grading of lab 11 is made of: NCCL's trees, the expected values, and what may be sent.
#pragma once

#include "dist/collectives/trees.h"

#include "judge/sums.h"

namespace lab11 {

using dist::ceil_log2, judge::Json, judge::Sum, judge::SumsAsked;

// `call` is "first_tree" or "second_tree": checks that all ranks' places are NCCL's, for each of these n.
void expect_trees(const std::string& call, const std::vector<int>& sizes);
// For even n: checks that every rank has children in one of the two trees and none in the other.
void expect_inner_in_one(const std::vector<int>& sizes);

// Whether the two trees of n ranks, from which the timetable is made, are NCCL's.
bool has_right_trees(int n);
// If they are not, names this as the reason of a failure.
bool diagnose_trees(int n);

// Adds what is expected of double_tree_all_reduce, and the wrong ideas about it.
SumsAsked asked_of(const std::vector<Sum>& sums);

// These check one call of double_tree_all_reduce. On topology "rounds":
void expect_twice_the_data(const SumsAsked& asked);
// An odd number of elements: the second half is the longer one.
void expect_each_half_on_its_tree(const SumsAsked& asked);
void expect_both_at_once(const SumsAsked& asked);
// In virtual time on a laptop, compared with the library's single tree.
void expect_faster_than_one_tree(const SumsAsked& asked);

}  // namespace lab11
