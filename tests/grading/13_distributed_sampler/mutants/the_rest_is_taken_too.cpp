// Misconception: one sample more or less makes no difference in a long stream.
//
// Killed by: Part4Stream.ranks_agree_on_the_end
// Diagnosis: the_rest_of_the_stream
#include "mutant.h"
#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.ranks == reader_.rank && count / reader_.ranks % reader_.workers == reader_.worker)
      return sample;
  }
  return std::nullopt;
}

}  // namespace lab
