// A mutant is the solution with one function replaced. `#define train_model right_train_model` around the
// solution keeps the right function under another name. The headers come first, so that the macro renames
// nothing else.
//
// Each mutant's file names its misconception, the test that must kill it and the diagnosis it must get.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "train_convnet.h"

#define DIST_SOLUTION "solutions/16_train_convnet/train_convnet.cpp"
