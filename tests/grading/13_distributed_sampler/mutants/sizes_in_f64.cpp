// Misconception: double is precise enough for a number of samples.
//
// Killed by: Part2Shares.divides_evenly
// Diagnosis: size_of_a_large_dataset
#include <cmath>

#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const {
  const double each = static_cast<double>(options_.dataset_size) / static_cast<double>(options_.num_replicas);
  return static_cast<std::int64_t>(options_.drop_last ? std::floor(each) : std::ceil(each));
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
