// A mutant is the solution with one function replaced. `#define tree_scatter right_tree_scatter` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>

#include "scatter_gather.h"

#define DIST_SOLUTION "solutions/06_scatter_gather/scatter_gather.cpp"
