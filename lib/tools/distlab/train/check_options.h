#pragma once

#include "distlab/train/options.h"

namespace distlab {

// Checks everything that can be checked before the ranks start. Throws Error{invalid_argument} that names the
// option.
void check(const TrainOptions& options);

}  // namespace distlab
