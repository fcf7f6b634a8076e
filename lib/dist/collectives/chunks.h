// Lists of views, one a rank.
#pragma once

#include <algorithm>
#include <span>

#include "dist/core/view.h"

namespace dist {

// The n chunks of `all` (one rank's share each), in rank order. Made when they are asked for: lists of n
// chunks on each of n ranks would fill the memory of a simulation.
struct Chunks {
  TensorView all;
  int n;
  TensorView operator[](int i) const { return chunk(all, i, n); }
};

inline TensorView largest(const Chunks& chunks) { return chunks[chunks.n - 1]; }  // as chunk_begin rounds
inline const TensorView& largest(std::span<const TensorView> views) {
  return *std::ranges::max_element(views, {}, &TensorView::count);
}

}  // namespace dist
