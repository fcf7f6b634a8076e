// Misconception: size() is the same on all ranks, so all ranks agree. (What counts is how many samples
// indices() returns.)
//
// Killed by: Part2Shares.pads_from_the_beginning
// Diagnosis: padding_forgotten
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  const auto n = options_.num_replicas;
  const auto last = options_.rank + (std::ssize(mine) - 1) * n;
  if (last >= options_.dataset_size && !mine.empty()) mine.pop_back();
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
