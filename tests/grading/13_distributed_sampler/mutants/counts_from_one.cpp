// Misconception: it does not matter whether counting begins at 0 or 1. (It does not, but the two conditions
// still exclude each other.)
//
// Killed by: Part4Stream.workers_and_ranks_with_a_common_divisor
// Diagnosis: starved_workers
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if ((count + 1) % reader_.ranks == reader_.rank && (count + 1) % reader_.workers == reader_.worker)
      return sample;
  }
  return std::nullopt;
}

}  // namespace lab
