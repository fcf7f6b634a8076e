// Misconception: drop_last is about batches, not about ranks.
//
// Killed by: Part2Shares.drops_the_last
// Diagnosis: drop_last_the_wrong_way
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const {
  return (options_.dataset_size + options_.num_replicas - 1) / options_.num_replicas;
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  SamplerOptions padded = options_;
  padded.drop_last = false;
  return RightSampler(padded, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
