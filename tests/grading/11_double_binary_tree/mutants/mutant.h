// A mutant is the solution with one function replaced. `#define first_tree right_first_tree` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "double_binary_tree.h"

#define DIST_SOLUTION "solutions/11_double_binary_tree/double_binary_tree.cpp"
