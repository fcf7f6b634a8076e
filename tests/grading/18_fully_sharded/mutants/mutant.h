// A mutant is the solution with one function replaced. `#define forward right_forward` around the solution
// keeps the right function under another name. The headers come first, so that the macro renames nothing
// else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "fully_sharded.h"

#define DIST_SOLUTION "solutions/18_fully_sharded/fully_sharded.cpp"
