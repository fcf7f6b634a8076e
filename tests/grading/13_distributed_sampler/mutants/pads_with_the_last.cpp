// Misconception: the missing samples are replaced by the last one.
//
// Killed by: Part2Shares.pads_from_the_beginning
// Diagnosis: pads_with_the_last
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  if (mine.empty()) return mine;
  const auto last_place = options_.rank + (std::ssize(mine) - 1) * options_.num_replicas;
  auto whole = options_;
  whole.num_replicas = 1;
  whole.rank = 0;
  if (last_place >= options_.dataset_size) mine.back() = RightSampler(whole, epoch_).indices().back();
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
