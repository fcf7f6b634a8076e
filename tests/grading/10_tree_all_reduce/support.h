// What the grading of lab 10 is made of: what a tree is, the expected values, and what may be sent.
#pragma once

#include "dist/collectives/trees.h"

#include "judge/sums.h"

namespace lab10 {

using dist::ceil_log2, judge::Json, judge::Sum, judge::SumsAsked;

// Checks tree_place() of all ranks, for each of these n: it must describe one tree, rooted at 0, with few
// children per rank and few levels.
void expect_trees(const std::vector<int>& sizes);

// Adds what is expected of this call, and the wrong ideas about it.
SumsAsked asked_of(const std::string& call, const std::vector<Sum>& sums);

// Calls in a row while one rank after another is late.
void expect_apart(judge::Random& random, SumsAsked asked);

// These check one call, on topology "rounds": every link of a tree is used once up per segment and, except in
// reduce_to_root, once down, within this many rounds.
void expect_tree_traffic(const SumsAsked& asked);
void expect_few_rounds(SumsAsked asked);

}  // namespace lab10
