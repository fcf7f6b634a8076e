// Misconception: every rank takes every n-th sample as far as there are samples, and a rank with one less has
// less work.
//
// Killed by: Part2Shares.same_length_on_all_ranks
// Diagnosis: ranks_disagree_on_length
#include "mutant.h"
#define DistributedSampler RightSampler
#include DIST_SOLUTION
#undef DistributedSampler

namespace lab {

std::int64_t DistributedSampler::size() const {
  if (options_.drop_last) return RightSampler(options_).size();
  const auto n = options_.num_replicas;
  return options_.dataset_size / n + (options_.rank < options_.dataset_size % n ? 1 : 0);
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  mine.resize(static_cast<std::size_t>(size()));
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

}  // namespace lab
