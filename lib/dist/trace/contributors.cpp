#include "dist/trace/contributors.h"

#include <algorithm>
#include <iterator>

namespace dist::trace {

RankSet Contributors::of(const void* begin, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(begin);
  const auto* const end = at + bytes;
  RankSet ranks = 0;
  auto part = parts_.upper_bound(at);
  if (part != parts_.begin() && std::prev(part)->second.end > at) --part;
  for (; part != parts_.end() && part->first < end; ++part) {
    if (part->first > at) ranks |= own_;  // a gap
    ranks |= part->second.ranks;
    at = part->second.end;
  }
  return at < end || bytes == 0 ? ranks | own_ : ranks;
}

void Contributors::forget(const void* begin, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(begin);
  const auto* const last = first + bytes;
  auto part = parts_.upper_bound(first);
  if (part != parts_.begin() && std::prev(part)->second.end > first) --part;
  while (part != parts_.end() && part->first < last) {
    const auto [from, old] = *part;
    part = parts_.erase(part);
    if (from < first) parts_[from] = {first, old.ranks};
    if (old.end > last) parts_[last] = old;
  }
}

void Contributors::set(const void* begin, std::size_t bytes, RankSet ranks) {
  if (bytes == 0) return;
  forget(begin, bytes);
  const auto* const first = static_cast<const std::byte*>(begin);
  parts_[first] = {first + bytes, ranks};
}

}  // namespace dist::trace
