// A mutant is the solution with one function replaced. `#define sum_of_all right_sum_of_all` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <fmt/format.h>

#include "first_steps.h"

#define DIST_SOLUTION "solutions/00_first_steps/first_steps.cpp"
