#pragma once

#include "distlab/train/options.h"

namespace distlab {

// What can be known before any rank is there. Error{invalid_argument} names the option.
void check(const TrainOptions& options);

}  // namespace distlab
