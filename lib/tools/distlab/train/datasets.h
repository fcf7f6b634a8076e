// The training and test data: generated digits, or MNIST.
#pragma once

#include <memory>

#include "dist/data/dataset.h"

#include "distlab/train/options.h"

namespace distlab {

struct Samples {
  std::unique_ptr<const dist::data::Dataset> dataset;
  std::int64_t size = 0;  // how many of its samples are used, from the first on
};

struct Datasets {
  Samples train, test;
};

// Call it before the ranks start. Throws Error{resource} that names a missing file of MNIST if it is needed.
void expect_files(const TrainOptions& options);

// Throws Error{resource} that names a missing file of MNIST, Error{invalid_argument} when there are fewer
// samples than the options ask for.
Datasets load_datasets(const TrainOptions& options);

}  // namespace distlab
