// Lists of views, one per rank.
#pragma once

#include <algorithm>
#include <span>

#include "dist/core/view.h"

namespace dist {

// The n chunks of `all` (one for each rank), in rank order. A chunk is made when it is asked for: lists of n
// chunks on each of n ranks would fill the memory of a simulation.
class Chunks {
 public:
  Chunks(const TensorView& all, int n) : all_(all), n_(n), each_(all.count / n), rest_(all.count % n) {}
  int size() const { return n_; }
  TensorView operator[](int i) const { return range(i, i + 1); }
  // Chunks first ... last - 1 as one view: they are contiguous.
  TensorView range(int first, int last) const {
    const std::int64_t lo = begin(first);
    return all_.slice(lo, begin(last) - lo);
  }

 private:
  // chunk_begin(all_.count, i, n_), with the divisions that do not depend on i done in advance.
  std::int64_t begin(std::int64_t i) const {
    if (rest_ == 0) return each_ * i;
    const auto extra = static_cast<std::uint64_t>(rest_ * i);
    // Dividing 32 bits takes half the time, and a simulation does it for every message.
    const auto small = static_cast<std::uint32_t>(extra);
    return each_ * i + (small == extra ? small / static_cast<std::uint32_t>(n_)
                                       : static_cast<std::int64_t>(extra / static_cast<std::uint64_t>(n_)));
  }
  TensorView all_;
  int n_;
  std::int64_t each_, rest_;
};

inline TensorView largest(const Chunks& chunks) {
  return chunks[chunks.size() - 1];
}  // rounds as chunk_begin does
inline const TensorView& largest(std::span<const TensorView> views) {
  return *std::ranges::max_element(views, {}, &TensorView::count);
}

}  // namespace dist
