// train --model gpt --simulate TOPOLOGY: a step of the model on a mesh of virtual ranks, instead of training.
#pragma once

#include "distlab/train/options.h"

namespace distlab {

// Prints how long a step takes there, where its time goes and what a rank holds; with --plot, draws it.
void simulate_training(const TrainOptions& options);

}  // namespace distlab
