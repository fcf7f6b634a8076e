// Misconception: a rank takes every n-th sample and a worker every w-th, so a rank's worker takes each sample
// that both rules choose.
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
    if (count % reader_.ranks == reader_.rank && count % reader_.workers == reader_.worker) return sample;
  }
  return std::nullopt;
}

}  // namespace lab
