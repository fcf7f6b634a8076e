// A mutant is the solution with one function replaced. `#define make_mesh right_make_mesh` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <limits>

#include "dist/core/fail.h"

#include "new_group.h"

#define DIST_SOLUTION "solutions/02_new_group/new_group.cpp"
