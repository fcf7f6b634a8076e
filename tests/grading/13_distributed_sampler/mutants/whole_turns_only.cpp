// Misconception: a round is over when every reader has had a sample.
//
// Killed by: Part4Stream.ranks_agree_on_the_end
// Diagnosis: drops_too_much
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  std::optional<std::int64_t> mine;
  for (std::int64_t i = 0; i < std::int64_t{reader_.ranks} * reader_.workers; ++i) {
    const auto sample = stream_.next();
    if (!sample) return std::nullopt;
    if (i % reader_.ranks == reader_.rank && i / reader_.ranks == reader_.worker) mine = sample;
  }
  return mine;
}

}  // namespace lab
