// All of axes.h is one kind of copy: rows of equal length, which begin at equal distances.
#include "dist/core/axes.h"

#include <algorithm>
#include <cstring>

#include "dist/core/counted.h"
#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"
#include "dist/core/shape.h"
#include "dist/core/values.h"

namespace dist {

namespace {

// The axis, counted from the front.
std::size_t checked_axis(std::string_view call, const Tensor& t, std::int64_t axis, Caller at) {
  static_cast<void>(t.flat(at));
  const std::int64_t from_front = axis < 0 ? axis + t.dim() : axis;
  if (from_front < 0 || from_front >= t.dim())
    fail(Errc::invalid_argument, "{} at {}: axis {} of a tensor of shape {}, which has {}", call, at.str(),
         axis, to_string(t.shape()), counted(t.dim(), "axis", "axes"));
  return static_cast<std::size_t>(from_front);
}

// The product of the sizes of axes `first` to `last` - 1.
std::int64_t product_of(const Shape& shape, std::size_t first, std::size_t last) {
  return product(Shape(shape.begin() + static_cast<std::ptrdiff_t>(first),
                       shape.begin() + static_cast<std::ptrdiff_t>(last)));
}

Shape with_size(Shape shape, std::size_t axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

// Rows of T; `pitch` in bytes.
template <class T>
void copy_elements(std::byte* to, const std::byte* from, const RowCopy& rows) {
  for (std::size_t i = 0; i < rows.count; ++i)
    std::memcpy(to + i * rows.to_pitch, from + i * rows.from_pitch, sizeof(T));
}

void copy_rows(Device device, std::byte* to, const std::byte* from, const RowCopy& rows) {
  if (rows.bytes == 0 || rows.count == 0) return;
  if (device.type != DeviceType::cpu)
    return device_api(device.type).copy_rows(device, current_stream(device), to, from, rows);
  switch (rows.bytes) {  // a known size is one load and one store
    case 1: return copy_elements<std::uint8_t>(to, from, rows);
    case 2: return copy_elements<std::uint16_t>(to, from, rows);
    case 4: return copy_elements<std::uint32_t>(to, from, rows);
    case 8: return copy_elements<std::uint64_t>(to, from, rows);
  }
  for (std::size_t i = 0; i < rows.count; ++i)
    std::memcpy(to + i * rows.to_pitch, from + i * rows.from_pitch, rows.bytes);
}

// Copies between `part` and the entries of `whole` that begin at `start`.
enum class Way : std::uint8_t { out_of_whole, into_whole };
void copy_part(const Tensor& whole, std::size_t axis, std::int64_t start, const Tensor& part, Way way) {
  if (part.numel() == 0 || !has_values(part.dtype())) return;
  const auto bytes_of = [&](std::int64_t entries) {
    return static_cast<std::size_t>(entries * product_of(whole.shape(), axis + 1, whole.shape().size())) *
           size_of(whole.dtype());
  };
  const std::size_t row = bytes_of(part.shape()[axis]), pitch = bytes_of(whole.shape()[axis]);
  std::byte* const in_whole = whole.flat().data + bytes_of(start);
  std::byte* const in_part = part.flat().data;
  const auto count = static_cast<std::size_t>(product_of(whole.shape(), 0, axis));
  if (way == Way::out_of_whole)
    copy_rows(whole.device(), in_part, in_whole, {row, count, row, pitch});
  else
    copy_rows(whole.device(), in_whole, in_part, {row, count, pitch, row});
}

void check_range(std::string_view call, const Tensor& t, std::size_t axis, std::int64_t start,
                 std::int64_t length, Caller at) {
  const std::int64_t size = t.shape()[axis];
  if (start < 0 || length < 0 || start > size || length > size - start)
    fail(Errc::invalid_argument, "{} at {}: {} from entry {} on; axis {} of shape {} has {}", call, at.str(),
         counted(length, "entry", "entries"), start, axis, to_string(t.shape()),
         counted(size, "entry", "entries"));
}

// Whether `part` differs from `like` in more than its size along the axis.
void check_alike(std::string_view call, const Tensor& like, const Tensor& part, std::size_t axis, Caller at) {
  static_cast<void>(part.flat(at));
  if (part.dim() != like.dim() || with_size(part.shape(), axis, 0) != with_size(like.shape(), axis, 0))
    fail(Errc::invalid_argument, "{} at {}: shapes {} and {} differ in more than axis {}", call, at.str(),
         to_string(like.shape()), to_string(part.shape()), axis);
  if (part.dtype() != like.dtype() || part.device() != like.device())
    fail(Errc::invalid_argument, "{} at {}: {} on {} and {} on {}; convert one with .to()", call, at.str(),
         name(like.dtype()), like.device().str(), name(part.dtype()), part.device().str());
}

using Begin = std::int64_t (*)(std::int64_t count, std::int64_t i, std::int64_t n);

std::vector<Tensor> divided(std::string_view call, const Tensor& t, std::int64_t n, std::int64_t axis,
                            Begin begin, Caller at) {
  const std::int64_t size = t.shape()[checked_axis(call, t, axis, at)];
  if (n < 1) fail(Errc::invalid_argument, "{} at {}: {} chunks; at least one is needed", call, at.str(), n);
  std::vector<Tensor> chunks;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = begin(size, i, n);
    chunks.push_back(narrow(t, axis, first, begin(size, i + 1, n) - first, at));
  }
  return chunks;
}

}  // namespace

Tensor narrow(const Tensor& t, std::int64_t axis, std::int64_t start, std::int64_t length, Caller at) {
  const std::size_t along = checked_axis("narrow", t, axis, at);
  check_range("narrow", t, along, start, length, at);
  if (along == 0) return t.narrow(start, length, at);
  Tensor part = empty(with_size(t.shape(), along, length), t.dtype(), t.device(), at);
  copy_part(t, along, start, part, Way::out_of_whole);
  return part;
}

Tensor& put(Tensor& into, std::int64_t axis, std::int64_t start, const Tensor& part, Caller at) {
  const std::size_t along = checked_axis("put", into, axis, at);
  check_alike("put", into, part, along, at);
  check_range("put", into, along, start, part.shape()[along], at);
  const TensorView &to = into.flat(), &from = part.flat();
  if (from.data < to.data + to.bytes() && to.data < from.data + from.bytes())
    fail(Errc::invalid_argument,
         "put at {}: the part shares memory with what it is put into; clone() it first", at.str());
  copy_part(into, along, start, part, Way::into_whole);
  return into;
}

std::vector<Tensor> chunk(const Tensor& t, std::int64_t n, std::int64_t axis, Caller at) {
  return divided("chunk", t, n, axis, chunk_begin, at);
}

std::vector<Tensor> torch_chunk(const Tensor& t, std::int64_t n, std::int64_t axis, Caller at) {
  return divided("torch_chunk", t, n, axis, torch_chunk_begin, at);
}

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t axis, Caller at) {
  if (tensors.empty())
    fail(Errc::invalid_argument, "cat at {}: no tensors; at least one is needed", at.str());
  const Tensor& first = tensors[0];
  const std::size_t along = checked_axis("cat", first, axis, at);
  std::int64_t size = 0;
  for (const Tensor& t : tensors) {
    check_alike("cat", first, t, along, at);
    size += t.shape()[along];
  }
  Tensor all = empty(with_size(first.shape(), along, size), first.dtype(), first.device(), at);
  std::int64_t start = 0;
  for (const Tensor& t : tensors) {
    copy_part(all, along, start, t, Way::into_whole);
    start += t.shape()[along];
  }
  return all;
}

// A copy on a CPU has so few rows that the cache lines it touches stay in the cache until the next copies
// need them, even if the rows begin a power of two apart: a first-level cache has at least 8 ways.
constexpr std::int64_t cached_rows = 8;

// With the axes between and around the two taken together, the tensor is [before, a, between, b, after]. The
// loop is over the shorter of a and b; the rows of one copy are the entries of the longer one.
Tensor transpose(const Tensor& t, std::int64_t axis0, std::int64_t axis1, Caller at) {
  const std::size_t one = checked_axis("transpose", t, axis0, at),
                    other = checked_axis("transpose", t, axis1, at);
  const std::size_t lower = std::min(one, other), upper = std::max(one, other);
  Shape shape = t.shape();
  std::swap(shape[lower], shape[upper]);
  Tensor out = empty(shape, t.dtype(), t.device(), at);
  if (t.numel() == 0) return out;
  if (lower == upper) return out.copy_(t, at);
  const std::int64_t before = product_of(t.shape(), 0, lower), a = t.shape()[lower];
  const std::int64_t between = product_of(t.shape(), lower + 1, upper), b = t.shape()[upper];
  const std::size_t row =
      static_cast<std::size_t>(product_of(t.shape(), upper + 1, t.shape().size())) * size_of(t.dtype());
  const auto offset = [&](std::int64_t outer, std::int64_t i, std::int64_t size_i, std::int64_t m,
                          std::int64_t j, std::int64_t size_j) {
    return static_cast<std::size_t>(((outer * size_i + i) * between + m) * size_j + j) * row;
  };
  const auto rows_of = [&](std::int64_t n) { return static_cast<std::size_t>(between * n) * row; };
  const bool loops_over_a = a <= b;
  const std::int64_t longer = std::max(a, b), block = t.device() == cpu ? cached_rows : longer;
  for (std::int64_t outer = 0; outer < before; ++outer)
    for (std::int64_t m = 0; m < between; ++m)
      for (std::int64_t first = 0; first < longer; first += block)
        for (std::int64_t k = 0; k < std::min(a, b); ++k) {
          const std::int64_t i = loops_over_a ? k : first, j = loops_over_a ? first : k;
          const auto count = static_cast<std::size_t>(std::min(block, longer - first));
          const RowCopy rows =
              loops_over_a ? RowCopy{row, count, rows_of(a), row} : RowCopy{row, count, row, rows_of(b)};
          copy_rows(t.device(), out.flat().data + offset(outer, j, b, m, i, a),
                    t.flat().data + offset(outer, i, a, m, j, b), rows);
        }
  return out;
}

}  // namespace dist
