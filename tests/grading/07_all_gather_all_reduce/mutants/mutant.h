// A mutant is the solution with one function replaced. `#define all_reduce_sum right_all_reduce` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <vector>

#include "dist/core/fail.h"

#include "all_gather_all_reduce.h"

#define DIST_SOLUTION "solutions/07_all_gather_all_reduce/all_gather_all_reduce.cpp"
