// A mutant is the solution with one function replaced. `#define train right_train` around the solution keeps
// the right function under another name. The headers come first, so that the macro renames nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <vector>

#include "data_parallel.h"

#define DIST_SOLUTION "solutions/14_data_parallel/data_parallel.cpp"
