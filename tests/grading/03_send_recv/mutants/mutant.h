// A mutant is the solution with one function replaced. `#define relay right_relay` around the solution keeps
// the right function under another name. The headers come first, so that the macro renames nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>

#include "dist/group/process_group.h"

#include "send_recv.h"

#define DIST_SOLUTION "solutions/03_send_recv/send_recv.cpp"
