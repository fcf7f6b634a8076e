// Misconception: fewer than n samples are missing, so the beginning of the list has enough of them. (This is
// true only if there are n samples.)
//
// Killed by: Part2Shares.pads_more_than_once
// Diagnosis: pads_once
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  const auto n = options_.num_replicas;
  std::erase_if(mine, [&, place = std::int64_t{options_.rank} - n](std::int64_t) mutable {
    return (place += n) >= 2 * options_.dataset_size;
  });
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
