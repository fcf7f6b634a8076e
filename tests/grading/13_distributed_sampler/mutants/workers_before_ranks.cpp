// Misconception: the ranks * workers readers are numbered as processes are, rank by rank.
//
// Killed by: Part4Stream.ranks_agree_on_the_end
// Diagnosis: workers_before_ranks
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % (std::int64_t{reader_.ranks} * reader_.workers) ==
        std::int64_t{reader_.rank} * reader_.workers + reader_.worker)
      return sample;
  }
  return std::nullopt;
}

}  // namespace lab
