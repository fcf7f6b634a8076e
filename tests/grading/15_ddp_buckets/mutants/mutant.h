// A mutant is the solution with one function replaced. `#define ready right_ready` around the solution keeps
// the right function under another name. The headers come first, so that the macro renames nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <vector>

#include "dist/core/fail.h"

#include "ddp_buckets.h"

#define DIST_SOLUTION "solutions/15_ddp_buckets/ddp_buckets.cpp"
