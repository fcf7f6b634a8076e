// Misconception: a loader that divides its samples among workers divides them among ranks, too.
//
// Killed by: Part4Stream.every_sample_once
// Diagnosis: ranks_ignored
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.workers == reader_.worker) return sample;
  }
  return std::nullopt;
}

}  // namespace lab
