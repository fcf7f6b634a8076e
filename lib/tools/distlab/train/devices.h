// Where the models of a training run compute, and sums over its ranks.
#pragma once

#include <initializer_list>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

#include "distlab/train/options.h"

namespace distlab {

// Returns a device for each of this rank's copies of the model: its own GPU, then the next ones. Throws
// Error{invalid_argument} for a scheme of one rank in a job of several, and an error that says what is
// missing for a device that is not there.
std::vector<dist::Device> devices_of(const TrainOptions& options);

// Returns the sums over all ranks. The tensor must be on the device, because GPU backends sum only on GPUs.
template <class T>
std::vector<T> summed(std::initializer_list<T> values, dist::Device device) {
  auto all = dist::tensor(values).to(device);
  dist::all_reduce(all);
  return all.template to_vector<T>();
}

}  // namespace distlab
