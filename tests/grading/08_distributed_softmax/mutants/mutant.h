// A mutant is the solution with one function replaced. `#define softmax_of_row right_softmax_of_row` around
// the solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "distributed_softmax.h"

#define DIST_SOLUTION "solutions/08_distributed_softmax/distributed_softmax.cpp"
