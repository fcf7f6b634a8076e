// Copies of tensors (clone, to, copy_), their elements as values of C++, and tensors from such values.
#include <algorithm>
#include <utility>

#include "dist/core/device/recording.h"
#include "dist/core/element_types.h"
#include "dist/core/fail.h"
#include "dist/core/functors.h"
#include "dist/core/kernels.h"
#include "dist/core/shape.h"
#include "dist/core/tensor.h"

namespace dist {

namespace {

// Work enqueued on the current stream may still use host memory when a call returns; calls for which that
// would be wrong wait for it here.
void synchronize(Device device) {
  if (device.type != DeviceType::cpu) device_api(device.type).synchronize(device, current_stream(device));
}

void check_same_shape(std::string_view what, const Tensor& a, const Tensor& b, Caller at) {
  if (a.shape() != b.shape())
    fail(Errc::invalid_argument, "{} at {}: shapes {} and {} differ", what, at.str(), to_string(a.shape()),
         to_string(b.shape()));
}

}  // namespace

void Tensor::set_caution(const char* text) { storage_->caution = text; }
const char* Tensor::caution() const { return is_defined() ? storage_->caution : nullptr; }

Tensor Tensor::clone(Caller at) const {
  Tensor t = empty_like(*this, at);
  copy(t.flat(), flat());
  t.set_caution(caution());
  return t;
}

Tensor Tensor::to(Device device, Caller at) const {
  check_defined(*this, at);
  if (device == flat_.device) return *this;
  Tensor t = empty(shape_, flat_.dtype, device).copy_(*this, at);
  t.set_caution(caution());
  return t;
}

Tensor Tensor::to(DType dtype, Caller at) const {
  check_defined(*this, at);
  if (dtype == flat_.dtype) return *this;
  Tensor t = empty(shape_, dtype, flat_.device).copy_(*this, at);
  t.set_caution(caution());
  return t;
}

Tensor& Tensor::copy_(const Tensor& from, Caller at) {
  check_defined(*this, at);
  check_defined(from, at);
  check_same_shape("copy_", *this, from, at);
  if (from.dtype() != dtype() && from.device() != device()) return copy_(from.to(dtype()), at);
  if (from.device() == device()) {
    convert(flat(), from.flat());
  } else {
    Recording::refuse("a copy between host and device", at);
    // The copy runs on the stream of one device; if there are two, that stream knows nothing of the other's
    // work. And a copy from or to plain host memory must find its stream idle. Otherwise it would wait inside
    // the driver, perhaps for another rank, and other threads, which notice that this rank has died, could
    // not ask the driver anything.
    synchronize(from.device());
    synchronize(device());
    copy(flat(), from.flat());
    synchronize(device());
    synchronize(from.device());
  }
  return *this;
}

Tensor& Tensor::fill_(double value, Caller at) {
  fill(flat(at), value);
  return *this;
}

template <class T>
T Tensor::item(Caller at) const {
  if (numel(at) != 1)
    fail(Errc::invalid_argument, "item() at {}: a tensor of shape {} has {} elements, not one", at.str(),
         to_string(shape_), numel());
  return to_vector<T>(at)[0];
}

template <class T>
std::vector<T> Tensor::to_vector(Caller at) const {
  const Tensor here = to(cpu, at);
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(here.numel()));
  visit_dtype(dtype(), [&]<class From>() {
    for (const From element : here.data<From>()) values.push_back(convert_element<T>(element));
  });
  return values;
}

template <class T>
Tensor tensor(std::span<const T> values, Device device, Caller at) {
  Tensor t = empty({static_cast<std::int64_t>(values.size())}, dtype_of<T>(), cpu, at);
  std::copy(values.begin(), values.end(), t.data<T>().begin());
  return t.to(device);
}

template <class T>
Tensor tensor(std::initializer_list<T> values, Device device, Caller at) {
  return tensor(std::span<const T>(values.begin(), values.size()), device, at);
}

#define DIST_INSTANTIATE(T)                                                   \
  template T Tensor::item<T>(Caller) const;                                   \
  template std::vector<T> Tensor::to_vector<T>(Caller) const;                 \
  template Tensor tensor<T>(std::initializer_list<T> values, Device, Caller); \
  template Tensor tensor<T>(std::span<const T> values, Device, Caller);
DIST_FOR_EACH_ELEMENT_TYPE(DIST_INSTANTIATE)
#undef DIST_INSTANTIATE

}  // namespace dist
