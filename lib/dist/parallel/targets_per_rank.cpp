#include "dist/parallel/targets_per_rank.h"

#include <algorithm>

#include "dist/core/fail.h"

namespace dist {

double targets_per_rank(const Tensor& targets, const TargetsPerRankOptions& options, Caller at) {
  const Tensor on_host = targets.to(cpu, at);
  const auto all = on_host.data<std::int64_t>(at);
  Tensor count = tensor({std::ssize(all) - std::ranges::count(all, options.ignore_index)}, cpu);
  all_reduce(count, ReduceOp::sum, {.group = options.group}, at);
  if (count.item<std::int64_t>() == 0)
    fail(Errc::invalid_argument,
         "targets_per_rank at {}: no target counts on any rank (all are {}), so there is no mean; leave this "
         "batch out",
         at.str(), options.ignore_index);
  return count.item<double>() / get_world_size(options.group, at);
}

}  // namespace dist
