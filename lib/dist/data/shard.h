// Which worker of which rank reads which samples of an iterable dataset.
#pragma once

#include <cstdint>

namespace dist::data {

// Sample i belongs to shard i % count.
struct Shard {
  std::int64_t index = 0, count = 1;

  // The shard of worker `worker` out of `workers` within this one: for Shard{rank, ranks}, it is reader
  // worker * ranks + rank out of ranks * workers. Samples are dealt to ranks first, so a rank's samples do
  // not depend on its workers, and no rank gets more than one sample more than another. Taking the samples
  // with i % ranks == rank and i % workers == worker looks just as good; but if ranks and workers have a
  // common factor, no i fulfils both for some of the workers, and these get nothing.
  constexpr Shard split(std::int64_t worker, std::int64_t workers) const {
    return {worker * count + index, count * workers};
  }
  // Throws Error{invalid_argument} for an index outside 0 ... count - 1.
  void check() const;
  constexpr bool contains(std::int64_t sample) const { return sample % count == index; }
};

}  // namespace dist::data
