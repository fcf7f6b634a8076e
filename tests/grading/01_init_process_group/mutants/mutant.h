// A mutant is the solution with one function replaced. `#define rendezvous right_rendezvous` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <numeric>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"

#include "init_process_group.h"

#define DIST_SOLUTION "solutions/01_init_process_group/init_process_group.cpp"
