// Misconception: the limit is a maximum, so a bucket is closed before it would exceed it.
//
// Killed by: Part1Fill.any_sizes
// Diagnosis: closes_before_the_limit
#include "mutant.h"
#define fill_buckets right_fill_buckets
#include DIST_SOLUTION
#undef fill_buckets

namespace lab {

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    const Open with{open.dtype, {}, open.bytes + sizes[i].bytes - 1, open.closed};
    if (!open.members.empty() && is_full(with, limits)) {
      buckets.push_back(open.members);
      open = {open.dtype, {}, 0, open.closed + 1};
    }
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

}  // namespace lab
