#pragma once

#include "distlab/train/options.h"

namespace distlab {

// Check everything that can be checked before the ranks start. Throw Error{invalid_argument} that names the
// option, and Error{resource} that names a missing file.
void check(const TrainOptions& options);         // for every model
void check_images(const TrainOptions& options);  // for the ConvNet
void check_text(const TrainOptions& options);    // for a GPT

// On a rank: throws Error{mismatch}, which names an option, if ranks that were started one by one have
// different ones. Without this error they would train a different model from the one that was asked for (a
// seed per rank), or hang. Collective.
void expect_same_options(const TrainOptions& options);

}  // namespace distlab
