#include "dist/core/shape.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist {

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::int64_t product(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

namespace {

std::string line_of(CallSite at) { return at.line == 0 ? "" : " at " + at.str(); }

}  // namespace

std::int64_t checked_numel(const Shape& shape, DType dtype, CallSite at) {
  if (std::any_of(shape.begin(), shape.end(), [](auto size) { return size < 0; }))
    fail(Errc::invalid_argument, "shape {}{}: sizes cannot be negative", to_string(shape), line_of(at));
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const auto size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      fail(Errc::invalid_argument, "shape {} of {}{}: more bytes than 63 bits can count", to_string(shape),
           name(dtype), line_of(at));
  return bytes / static_cast<std::int64_t>(size_of(dtype));
}

void infer_axis(Shape& shape, std::int64_t count, CallSite at) {
  const auto unknown = std::find(shape.begin(), shape.end(), -1);
  if (unknown == shape.end()) return;
  const std::string asked = to_string(shape);
  *unknown = 1;
  if (std::find(shape.begin(), shape.end(), -1) != shape.end())
    fail(Errc::invalid_argument, "view({}) at {}: only one size can be -1", asked, at.str());
  const std::int64_t known = checked_numel(shape, DType::u8, at);
  if (known == 0 || count % known != 0)
    fail(Errc::invalid_argument, "view({}) at {}: no size instead of -1 makes {}", asked, at.str(),
         counted(count, "element"));
  *unknown = count / known;
}

}  // namespace dist
