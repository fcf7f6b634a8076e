// The mean over the targets of all ranks, for a training loop of your own with DistributedDataParallel,
// fully_shard() or ContextParallel, which average gradients over ranks. If ranks have different numbers of
// targets that count (rows of different lengths, padding), the average of their means is not the mean over
// all. If each divides the sum of its losses by the number of targets per rank, it is:
//
//   nn::CrossEntropyLoss loss;
//   const double count = targets_per_rank(targets);
//   const nn::Loss mine = loss.forward(model.forward(tokens), targets, count);
//   model.backward(loss.backward());
//
// The average of mine.item() over the ranks is the mean loss. A rank without a target that counts takes part,
// and adds nothing. (HybridGpt and Pipeline do so by themselves.)
#pragma once

#include <cstdint>

#include "dist/group/process_group.h"

namespace dist {

struct TargetsPerRankOptions {
  ProcessGroup group = {};           // default: the default group
  std::int64_t ignore_index = -100;  // the target that does not count
};

// How many targets, i64, count on a rank of the group, on average over its ranks: one all_reduce of one
// number. Every rank calls it. Throws Error{invalid_argument}, on every rank, if none counts on any of them.
double targets_per_rank(const Tensor& targets, const TargetsPerRankOptions& options = {},
                        Caller at = Caller::here());

}  // namespace dist
