// Misconception: random numbers must differ between ranks. (The shuffle must not.)
//
// Killed by: Part3Epochs.another_order_each_epoch
// Diagnosis: a_shuffle_of_its_own
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  SamplerOptions own = options_;
  own.seed += static_cast<std::uint64_t>(options_.rank);
  return RightSampler(own, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
