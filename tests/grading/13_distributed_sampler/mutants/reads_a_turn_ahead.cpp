// Misconception: a reader may read as far as it likes, if it keeps what it has read.
//
// Killed by: Part4Stream.without_end
// Diagnosis: reads_ahead
#include <deque>
#include <map>

#include "mutant.h"

#define ShardedStream RightStream
#include DIST_SOLUTION
#undef ShardedStream

namespace lab {

std::optional<std::int64_t> ShardedStream::next() {
  static std::map<const ShardedStream*, std::deque<std::int64_t>> kept;
  auto& mine = kept[this];
  while (mine.size() < 3) {
    std::vector<std::int64_t> round;
    while (std::ssize(round) < reader_.ranks) {
      const auto sample = stream_.next();
      if (!sample) break;
      round.push_back(*sample);
    }
    if (std::ssize(round) < reader_.ranks) break;
    if (rounds_++ % reader_.workers == reader_.worker)
      mine.push_back(round[static_cast<std::size_t>(reader_.rank)]);
  }
  if (mine.empty()) return std::nullopt;
  const auto sample = mine.front();
  mine.pop_front();
  return sample;
}

}  // namespace lab
