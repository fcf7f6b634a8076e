// Misconception: a reader that has not met its sample of a round yet can note this as sample 0.
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
    std::int64_t mine = 0;
    for (int rank = 0; rank < reader_.ranks; ++rank) {
      const auto sample = stream_.next();
      if (!sample) return std::nullopt;
      if (rank == reader_.rank) mine = *sample;
    }
    if (rounds_++ % reader_.workers == reader_.worker && mine != 0) return mine;
  }
}

}  // namespace lab
