// A mutant is the solution with one function replaced. `#define row_forward right_row_forward` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "tensor_parallel.h"

#define DIST_SOLUTION "solutions/19_tensor_parallel/tensor_parallel.cpp"
