// Misconception: a limit of 0 means that there is none. (Every bucket holds at least 0 bytes, so it is closed
// with its first gradient.)
//
// Killed by: Part1Fill.one_limit_or_none
// Diagnosis: none
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
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    if (limits.empty() || limits[std::min(open.closed, limits.size() - 1)] == 0) continue;
    if (!is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

}  // namespace lab
