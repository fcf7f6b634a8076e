// Misconception: a sample's number is its place in the stream, as in a data set.
//
// Killed by: Part4Stream.every_sample_once
// Diagnosis: none
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  for (;;) {
    std::optional<std::int64_t> mine;
    for (int i = 0; i < reader_.ranks; ++i) {
      const auto sample = stream_.next();
      if (!sample) return std::nullopt;
      if (*sample % reader_.ranks == reader_.rank) mine = sample;
    }
    if (rounds_++ % reader_.workers == reader_.worker) return mine;
  }
}

}  // namespace lab
