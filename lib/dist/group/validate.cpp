// The checks of a call's tensors. Extents are ranges of addresses: check_disjoint() and the check_apart*()
// functions compare them, first as a whole (hull_of) and only then one by one.
#include "dist/group/validate.h"

#include <algorithm>

#include "dist/core/counted.h"

namespace dist {
namespace {

// Addresses [begin, end) of a tensor's elements.
struct Extent {
  const std::byte* begin;
  const std::byte* end;
  bool is_empty() const { return begin == end; }
  bool overlaps(const Extent& other) const {
    return !is_empty() && !other.is_empty() && begin < other.end && other.begin < end;
  }
};

Extent extent_of(const Tensor& tensor) {
  const TensorView view = tensor.flat();
  return {view.data, view.data + view.bytes()};
}

// Everything between the first and the last byte of a list: lists are mostly parts of one tensor, so this
// settles most questions.
Extent hull_of(std::span<const Tensor> tensors) {
  Extent hull{nullptr, nullptr};
  for (const auto& tensor : tensors) {
    const Extent extent = extent_of(tensor);
    if (extent.is_empty()) continue;
    hull =
        hull.is_empty() ? extent : Extent{std::min(hull.begin, extent.begin), std::max(hull.end, extent.end)};
  }
  return hull;
}

}  // namespace

bool share_memory(const Tensor& a, const Tensor& b) { return extent_of(a).overlaps(extent_of(b)); }

void check_same_kind(const Call& call, const Named& a, const Named& b) {
  if (a.tensor.dtype() != b.tensor.dtype()) {
    call.refuse("{} is {}, but {} is {}; tensors of one call have one dtype", a.name, name(a.tensor.dtype()),
                b.name, name(b.tensor.dtype()));
  }
  if (a.tensor.device() != b.tensor.device()) {
    call.refuse("{} is on {}, but {} is on {}; tensors of one call are on one device", a.name,
                a.tensor.device().str(), b.name, b.tensor.device().str());
  }
}

void check_list(const Call& call, const NamedList& list, const Named& like) {
  const auto n = static_cast<std::size_t>(call.group.size());
  if (list.tensors.size() != n) {
    call.refuse("{} has {}, but {} has {}; it needs one per rank", list.name,
                counted(list.tensors.size(), "tensor"), call.group.identity.name, counted(n, "rank"));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor& tensor = list.tensors[i];
    if (!tensor.is_defined()) call.refuse("{}[{}] is an undefined tensor", list.name, i);
    if (tensor.dtype() != like.tensor.dtype() || tensor.device() != like.tensor.device()) {
      check_same_kind(call, {fmt::format("{}[{}]", list.name, i), tensor}, like);
    }
  }
}

void check_own_share(const Call& call, const NamedList& list, const Named& own) {
  const auto rank = static_cast<std::size_t>(call.group.rank);
  const auto expected = list.tensors[rank].numel();
  if (own.tensor.numel() != expected) {
    call.refuse("{} has {}, but {}[{}], this rank's part, has {}", own.name,
                counted(own.tensor.numel(), "element"), list.name, rank, expected);
  }
}

void check_empty(const Call& call, const NamedList& list, std::string_view only_on, int root_global) {
  if (!list.tensors.empty()) {
    call.refuse("{} has {}, but is for the {} (rank {}) only; leave it empty here", list.name,
                counted(list.tensors.size(), "tensor"), only_on, root_global);
  }
}

void check_disjoint(const Call& call, const NamedList& list) {
  const auto& tensors = list.tensors;
  bool in_order = true;  // as chunks of one tensor are
  for (std::size_t i = 1; i < tensors.size() && in_order; ++i) {
    in_order = extent_of(tensors[i - 1]).end <= extent_of(tensors[i]).begin;
  }
  if (in_order) return;
  std::vector<std::pair<Extent, std::size_t>> sorted;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (const Extent extent = extent_of(tensors[i]); !extent.is_empty()) sorted.emplace_back(extent, i);
  }
  std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first.begin; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!sorted[i - 1].first.overlaps(sorted[i].first)) continue;
    const auto [a, b] = std::minmax(sorted[i - 1].second, sorted[i].second);
    call.refuse("{}[{}] and {}[{}] share memory, and both are written", list.name, a, list.name, b);
  }
}

namespace {

void check_apart_from_part(const Call& call, std::string_view list, int part, const Extent& theirs,
                           const Named& one) {
  const Extent extent = extent_of(one.tensor);
  const bool in_place = part == call.group.rank && theirs.begin == extent.begin && theirs.end == extent.end;
  if (!theirs.overlaps(extent) || in_place) return;
  call.refuse("{} and {}[{}] share memory; only {}[{}] as a whole may be {} itself", one.name, list, part,
              list, call.group.rank, one.name);
}

}  // namespace

void check_apart(const Call& call, const NamedList& list, const Named& one) {
  if (!hull_of(list.tensors).overlaps(extent_of(one.tensor))) return;
  for (std::size_t i = 0; i < list.tensors.size(); ++i)
    check_apart_from_part(call, list.name, static_cast<int>(i), extent_of(list.tensors[i]), one);
}

void check_apart_from_parts(const Call& call, const Named& whole, const Named& one) {
  const Extent all = extent_of(whole.tensor);
  if (!all.overlaps(extent_of(one.tensor))) return;
  const std::ptrdiff_t each = (all.end - all.begin) / call.group.size();
  for (int i = 0; i < call.group.size(); ++i)
    check_apart_from_part(call, whole.name, i, {all.begin + i * each, all.begin + (i + 1) * each}, one);
}

void check_apart(const Call& call, const NamedList& a, const NamedList& b) {
  if (!hull_of(a.tensors).overlaps(hull_of(b.tensors))) return;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    for (std::size_t j = 0; j < b.tensors.size(); ++j) {
      if (extent_of(a.tensors[i]).overlaps(extent_of(b.tensors[j]))) {
        call.refuse("{}[{}] and {}[{}] share memory", a.name, i, b.name, j);
      }
    }
  }
}

}  // namespace dist
