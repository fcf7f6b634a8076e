// What is learned: generated digits, or MNIST.
#pragma once

#include <memory>

#include "dist/data/dataset.h"

#include "distlab/train/options.h"

namespace distlab {

struct Samples {
  std::unique_ptr<const dist::data::Dataset> dataset;
  std::int64_t size = 0;  // so many of its first samples are used
};

struct Datasets {
  Samples train, test;
};

// Before any rank is there. Error{resource} naming a file of MNIST that is needed and not there.
void expect_files(const TrainOptions& options);

// Error{resource} naming a file of MNIST that is not there, Error{invalid_argument} for more samples than
// there are.
Datasets load_datasets(const TrainOptions& options);

}  // namespace distlab
