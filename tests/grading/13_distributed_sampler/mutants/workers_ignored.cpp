// Misconception: the stream is sharded by rank; what the loader does with its workers is its business.
//
// Killed by: Part4Stream.every_sample_once
// Diagnosis: workers_ignored
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.ranks == reader_.rank) return sample;
  }
  return std::nullopt;
}

}  // namespace lab
