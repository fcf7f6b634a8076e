// Trains one rank of a run of tests/golden/ddp_training.json and tells what differs from PyTorch's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dist/dist.h"
#include "dist/nn/module.h"

#include "support/golden_training.h"

namespace dist::test {

// The model as a scheme of training sees it: DistributedDataParallel around it, or itself.
using Wrapped = std::function<std::unique_ptr<nn::Module>(nn::Module& model)>;

// A line for each number that is further off than tests/golden/README.md allows; empty: none.
std::vector<std::string> golden_differences(const GoldenRun& run, int rank, const Wrapped& wrapped,
                                            Device device = cpu);

}  // namespace dist::test
