// TensorView: a flat run of elements somewhere in memory that it does not own; algorithms and transports work
// on these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dist/core/types.h"

namespace dist {

// Contiguous elements of one dtype on one device. The memory belongs to a Tensor or a Scratch, which keeps it
// alive while an operation uses the view. A view fills two vector registers, and neither half crosses a cache
// line: every call copies views a dozen times, and reads each copy a moment later.
struct alignas(16) TensorView {
  std::byte* data = nullptr;  // null with elements: a size alone, as simulations use it
  std::int64_t count = 0;     // elements
  DType dtype = DType::f32;
  Device device = cpu;

  std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(dtype); }
  // Elements [first, first + n).
  TensorView slice(std::int64_t first, std::int64_t n) const {
    std::byte* const begin = data ? data + static_cast<std::size_t>(first) * size_of(dtype) : nullptr;
    return {begin, n, dtype, device};
  }
};

static_assert(sizeof(TensorView) == 32);

// How many elements after the start of `whole` its slice `part` begins.
inline std::int64_t elements_between(const TensorView& whole, const TensorView& part) {
  return (part.data - whole.data) / static_cast<std::ptrdiff_t>(size_of(whole.dtype));
}

// The element at which chunk i of n begins among `count` elements; chunk n begins at the end. Cannot
// overflow: i <= n, and the division is done before the multiplication.
constexpr std::int64_t chunk_begin(std::int64_t count, std::int64_t i, std::int64_t n) {
  return count / n * i + count % n * i / n;
}

// The same for chunks of ceil(count / n) elements, of which the last can be smaller or empty, as torch.chunk
// and PyTorch's DTensor divide. Cannot overflow.
constexpr std::int64_t torch_chunk_begin(std::int64_t count, std::int64_t i, std::int64_t n) {
  const std::int64_t size = count / n + (count % n != 0);
  return size == 0 || i > count / size ? count : i * size;
}

// Chunk i of n: one rank's part of `all`. Sizes differ by at most one, none is out of range, and together the
// n chunks are `all`.
inline TensorView chunk(const TensorView& all, std::int64_t i, std::int64_t n) {
  const std::int64_t lo = chunk_begin(all.count, i, n), hi = chunk_begin(all.count, i + 1, n);
  return all.slice(lo, hi - lo);
}

// Mathematical modulo: the result is in [0, n) for negative a too.
constexpr int mod(int a, int n) {
  const int rest = a % n;
  return rest < 0 ? rest + n : rest;
}

}  // namespace dist
