#include "dist/backend/nccl/joined.h"

#include "dist/core/device.h"
#include "dist/core/error.h"
#include "dist/core/kernels.h"

namespace dist::nccl {
namespace {

bool are_equally_long(const TensorList& list) {
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i].count != list[0].count) return false;
  return true;
}

bool in_one_allocation(const TensorView& a, const TensorView& b) {
  try {
    DeviceApi& api = device_api(a.device.type);
    return api.allocation_of(a.device, a.data).id == api.allocation_of(b.device, b.data).id;
  } catch (const Error&) {
    return false;  // foreign memory
  }
}

bool lie_behind_each_other(const TensorList& list) {
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i].data != list[i - 1].data + list[i - 1].bytes()) return false;
  return list.size() == 1 || in_one_allocation(list[0], list[list.size() - 1]);
}

}  // namespace

std::optional<Joined> Joined::of(const TensorList& list) {
  if (!are_equally_long(list)) return std::nullopt;
  Joined made;
  made.view_ = list[0];
  made.view_.count *= static_cast<std::int64_t>(list.size());
  if (lie_behind_each_other(list)) return made;
  made.lent_ = empty({made.view_.count}, list.dtype(), list.device());
  made.view_ = made.lent_.flat();
  return made;
}

TensorView Joined::part(const TensorList& list, std::size_t i) const {
  return view_.slice(static_cast<std::int64_t>(i) * list[0].count, list[0].count);
}

void Joined::collect(const TensorList& list) const {
  for (std::size_t i = 0; lent_.is_defined() && i < list.size(); ++i) copy(part(list, i), list[i]);
}

void Joined::spread(const TensorList& list) const {
  for (std::size_t i = 0; lent_.is_defined() && i < list.size(); ++i) copy(list[i], part(list, i));
}

}  // namespace dist::nccl
