// The options of ./distlab bench shard.
#pragma once

#include <cstdint>

namespace distlab {

struct ShardBenchOptions {
  int ranks = 0;  // 0: 2 ranks, then 4
  std::int64_t layers = 4, width = 128, context = 64;
  std::int64_t batch_size = 4;  // per rank
  int repeats = 9;              // turns of each way; their median is reported
};

}  // namespace distlab
