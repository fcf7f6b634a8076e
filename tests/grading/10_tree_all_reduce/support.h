// What the grading of lab 10 is made of: what a tree is, the expected values, and what may be sent.
#pragma once

#include "dist/collectives/trees.h"

#include "judge/sums.h"

namespace lab10 {

using dist::ceil_log2, judge::Json, judge::Sum, judge::SumsAsked;

// tree_place() of all ranks, for each of these n: one tree, rooted at 0, narrow and flat enough.
void expect_trees(const std::vector<int>& sizes);

// With what is expected of this call, and the wrong ideas about it.
SumsAsked asked_of(const std::string& call, const std::vector<Sum>& sums);

// These look at one call, on topology "rounds": every link of a tree once up, and but for reduce_to_root once
// down, a segment; and so many rounds.
void expect_tree_traffic(const SumsAsked& asked);
void expect_few_rounds(SumsAsked asked);

}  // namespace lab10
