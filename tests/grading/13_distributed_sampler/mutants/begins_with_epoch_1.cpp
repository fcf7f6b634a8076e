// Misconception: epochs are counted from 1, so epoch 0 has no order of its own.
//
// Killed by: Part3Epochs.secret_sizes
// Diagnosis: none
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, std::max<std::int64_t>(epoch_, 1)).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
