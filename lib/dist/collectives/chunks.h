// Small helpers on lists of views, one a rank.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "dist/core/view.h"

namespace dist {

// The n chunks of `all` (chunk: one rank's share), in rank order.
inline std::vector<TensorView> chunks_of(const TensorView& all, int n) {
  std::vector<TensorView> chunks;
  for (int i = 0; i < n; ++i) chunks.push_back(chunk(all, i, n));
  return chunks;
}

inline const TensorView& largest(std::span<const TensorView> views) {
  return *std::ranges::max_element(views, {}, &TensorView::count);
}

}  // namespace dist
