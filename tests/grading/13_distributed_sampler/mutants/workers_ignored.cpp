// Misconception: the stream is divided by rank, and the loader divides the samples among its workers by
// itself.
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
