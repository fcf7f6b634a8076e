// Misconception: a rank's part is a block, so the first rank takes the first samples.
//
// Killed by: Part2Shares.divides_evenly
// Diagnosis: consecutive_blocks
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  std::vector<std::int64_t> list;
  SamplerOptions of = options_;
  for (std::int64_t i = 0; i < size() * options_.num_replicas; ++i) {
    of.rank = static_cast<int>(i % of.num_replicas);
    list.push_back(RightSampler(of, epoch_).indices()[static_cast<std::size_t>(i / of.num_replicas)]);
  }
  const auto first = list.begin() + options_.rank * size();
  return {first, first + size()};
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
