// Segments: a large message cut into pieces, so that a rank passes one on while the next is arriving.
// (Segment: the unit kept in flight, all of one size but the last. Chunk, core/view.h: one rank's part of
// the data.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "dist/core/view.h"

namespace dist {

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
