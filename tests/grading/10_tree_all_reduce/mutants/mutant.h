// A mutant is the solution with one function replaced. `#define tree_place right_tree_place` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "tree_all_reduce.h"

#define DIST_SOLUTION "solutions/10_tree_all_reduce/tree_all_reduce.cpp"
