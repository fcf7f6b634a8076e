// Tensor: its storage, and access to its elements. Views that share the storage (view, narrow, [], chunk) are
// in tensor_views.cpp, copies and values in tensor_values.cpp, factories and arithmetic in tensor_math.cpp,
// text in tensor_print.cpp.
#include "dist/core/tensor.h"

#include <utility>

#include "dist/core/counted.h"
#include "dist/core/device/recording.h"
#include "dist/core/element_types.h"
#include "dist/core/fail.h"
#include "dist/core/memory/storage.h"
#include "dist/core/shape.h"

namespace dist {

Tensor::Tensor(std::shared_ptr<Storage> storage, Shape shape, std::int64_t count, DType dtype, Device device)
    : storage_(std::move(storage)), shape_(std::move(shape)), flat_{storage_->data(), count, dtype, device} {}

void Tensor::fail_undefined(CallSite at) {
  fail(Errc::invalid_argument,
       "the tensor used at {} is undefined (default-constructed); make it with empty(), zeros(), ...",
       at.str());
}

Tensor Tensor::from_blob(void* data, Shape shape, DType dtype, Device device, Deleter deleter, Caller at) {
  const std::int64_t count = checked_numel(shape, dtype, at);
  if (data == nullptr && count > 0)
    fail(Errc::invalid_argument, "from_blob at {}: null memory for a tensor of shape {}", at.str(),
         to_string(shape));
  static std::byte nothing;  // an address for tensors without elements
  auto storage = std::make_shared<Storage>(data == nullptr ? &nothing : data, std::move(deleter));
  return {std::move(storage), std::move(shape), count, dtype, device};
}

namespace {

thread_local Device device_of_factories = cpu;

}  // namespace

void set_default_device(Device device) { device_of_factories = device; }
Device get_default_device() { return device_of_factories; }

Tensor empty(Shape shape, DType dtype, Device device, Caller at) {
  const std::int64_t count = checked_numel(shape, dtype, at);
  auto storage = Recording::make_storage(device, static_cast<std::size_t>(count) * size_of(dtype));
  return {std::move(storage), std::move(shape), count, dtype, device};
}

std::int64_t Tensor::size(std::int64_t axis, Caller at) const {
  check_defined(*this, at);
  const std::int64_t from_front = axis < 0 ? axis + dim() : axis;
  if (from_front < 0 || from_front >= dim())
    fail(Errc::invalid_argument, "size({}) at {}: a tensor of shape {} has {}", axis, at.str(),
         to_string(shape_), counted(dim(), "axis", "axes"));
  return shape_[static_cast<std::size_t>(from_front)];
}

template <class T>
std::span<T> Tensor::data(Caller at) {
  const auto elements = std::as_const(*this).data<T>(at);
  return {const_cast<T*>(elements.data()), elements.size()};
}

template <class T>
std::span<const T> Tensor::data(Caller at) const {
  check_defined(*this, at);
  if (dtype_of<T>() != dtype())
    fail(Errc::invalid_argument,
         "data<{}>() at {}: this tensor holds {}; ask for that or convert with .to({})", name(dtype_of<T>()),
         at.str(), name(dtype()), name(dtype_of<T>()));
  if (device().type != DeviceType::cpu)
    fail(Errc::invalid_argument, "data() at {}: this tensor is on {}; bring it over with .to(cpu)", at.str(),
         device().str());
  return {static_cast<const T*>(raw()), static_cast<std::size_t>(numel())};
}

#define DIST_INSTANTIATE(T)                      \
  template std::span<T> Tensor::data<T>(Caller); \
  template std::span<const T> Tensor::data<T>(Caller) const;
DIST_FOR_EACH_ELEMENT_TYPE(DIST_INSTANTIATE)
#undef DIST_INSTANTIATE

}  // namespace dist
