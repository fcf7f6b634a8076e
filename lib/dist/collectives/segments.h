// Segments: a large message cut into pieces, so that a rank passes one on while the next is arriving.
// (Segment: the unit kept in flight, all of one size but the last. Chunk, core/view.h: one rank's part of
// the data.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "dist/core/view.h"

namespace dist {

// The size of a segment: the unit in which some algorithms send large data. Large enough that a
// segment's transfer time hides its latency, small enough that it stays in a core's cache.
inline constexpr std::int64_t default_segment_bytes = 128 * 1024;

class Segments {
 public:
  Segments(const TensorView& all, std::int64_t segment_bytes)
      : all_(all),
        each_(std::max<std::int64_t>(1, segment_bytes / static_cast<std::int64_t>(size_of(all.dtype)))) {}

  // At least one: with no elements there is one empty segment.
  int count() const { return static_cast<int>(std::max<std::int64_t>(1, (all_.count + each_ - 1) / each_)); }
  TensorView operator[](int i) const {
    const std::int64_t first = i * each_;
    return all_.slice(first, std::min(each_, all_.count - first));
  }

 private:
  TensorView all_;
  std::int64_t each_;  // elements per segment
};

}  // namespace dist
