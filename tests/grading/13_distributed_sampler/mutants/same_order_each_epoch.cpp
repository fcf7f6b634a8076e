// Misconception: with shuffle = true, every epoch has its own order by itself.
//
// Killed by: Part3Epochs.another_order_each_epoch
// Diagnosis: epoch_ignored
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const { return RightSampler(options_).indices(); }

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
