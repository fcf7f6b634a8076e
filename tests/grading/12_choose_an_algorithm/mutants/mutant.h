// A mutant is the solution with one function replaced. `#define predict right_predict` around the solution
// keeps the right function under another name. The headers come first, so that the macro renames nothing
// else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <cmath>

#include "dist/dist.h"

#include "choose_an_algorithm.h"

#define DIST_SOLUTION "solutions/12_choose_an_algorithm/choose_an_algorithm.cpp"
