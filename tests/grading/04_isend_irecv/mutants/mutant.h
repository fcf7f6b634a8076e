// A mutant is the solution with one function replaced. `#define swap_with right_swap_with` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "isend_irecv.h"

// The solution's swap_with() comes before its overlap() and calls it.
namespace lab {
void right_overlap(const dist::Tensor& out, dist::Tensor& in, int partner,
                   const std::function<void()>& compute);
}

#define DIST_SOLUTION "solutions/04_isend_irecv/isend_irecv.cpp"
