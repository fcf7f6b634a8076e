#include "dist/trace/call.h"

#include <iterator>

namespace dist::trace {

// Where inputs are part of outputs (all_gather in place), the outputs' offsets apply.
Offsets::Offsets(const Call& call) {
  for (const auto* views : {&call.inputs, &call.outputs}) {
    std::int64_t offset = 0;
    for (const TensorView& view : *views) {
      if (view.bytes() > 0) ranges_[view.data] = {view.data + view.bytes(), offset};
      offset += static_cast<std::int64_t>(view.bytes());
    }
  }
}

std::int64_t Offsets::of(const void* data) const {
  const auto* const at = static_cast<const std::byte*>(data);
  const auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return -1;
  const auto& [begin, range] = *std::prev(next);
  return at < range.end ? range.offset + (at - begin) : -1;
}

}  // namespace dist::trace
