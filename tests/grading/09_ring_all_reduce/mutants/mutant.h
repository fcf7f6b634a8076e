// A mutant is the solution with one function replaced. `#define all_gather right_all_gather` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "ring_all_reduce.h"

#define DIST_SOLUTION "solutions/09_ring_all_reduce/ring_all_reduce.cpp"
