// Misconception: no data set has more samples than an int can count.
//
// Killed by: Part2Shares.divides_evenly
// Diagnosis: size_of_a_large_dataset
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const {
  const int samples = static_cast<int>(options_.dataset_size), n = options_.num_replicas;
  return options_.drop_last || samples % n == 0 ? samples / n : samples / n + 1;
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
