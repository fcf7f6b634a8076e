// Misconception: it makes no difference whether samples are left out before or after the shuffle.
//
// Killed by: Part3Epochs.pytorchs_own_indices
// Diagnosis: drops_before_shuffling
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  SamplerOptions cut = options_;
  if (cut.drop_last) cut.dataset_size -= cut.dataset_size % cut.num_replicas;
  return RightSampler(cut, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
