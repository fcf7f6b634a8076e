// Tensor: storage, access to elements, views that share it (view, narrow, [], chunk), copies (clone, to,
// copy_), and tensors from values. Factories and arithmetic are in tensor_math.cpp, text in tensor_print.cpp.
#include "dist/core/tensor.h"

#include <algorithm>
#include <utility>

#include "dist/core/device/recording.h"
#include "dist/core/fail.h"
#include "dist/core/functors.h"
#include "dist/core/kernels.h"
#include "dist/core/memory/storage.h"
#include "dist/core/shape.h"

namespace dist {

namespace {

void check_defined(const Tensor& t, Caller at) { static_cast<void>(t.flat(at)); }

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
    fail(Errc::invalid_argument, "size({}) at {}: a tensor of shape {} has {} axes", axis, at.str(),
         to_string(shape_), dim());
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

Tensor Tensor::view(Shape shape, Caller at) const {
  const std::int64_t count = numel(at);
  infer_axis(shape, count, at);
  if (checked_numel(shape, dtype(), at) != count)
    fail(Errc::invalid_argument, "view({}) at {}: {} elements do not fit a tensor of shape {} with {}",
         to_string(shape), at.str(), product(shape), to_string(shape_), count);
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::narrow(std::int64_t start, std::int64_t length, Caller at) const {
  check_defined(*this, at);
  if (shape_.empty()) fail(Errc::invalid_argument, "narrow at {}: a scalar has no axis to narrow", at.str());
  if (start < 0 || length < 0 || start > shape_[0] || length > shape_[0] - start)
    fail(Errc::invalid_argument, "narrow({}, {}) at {}: the first axis of shape {} has {} entries", start,
         length, at.str(), to_string(shape_), shape_[0]);
  Tensor t = *this;
  const std::int64_t row = shape_[0] == 0 ? 0 : numel() / shape_[0];
  t.flat_ = flat_.slice(start * row, length * row);
  t.shape_[0] = length;
  return t;
}

Tensor Tensor::operator[](Operand<std::int64_t> operand) const {
  const auto& [index, at] = operand;
  check_defined(*this, at);
  if (shape_.empty())
    fail(Errc::invalid_argument, "[{}] at {}: a scalar has no axis to index", index, at.str());
  const std::int64_t from_front = index < 0 ? index + shape_[0] : index;
  if (from_front < 0 || from_front >= shape_[0])
    fail(Errc::invalid_argument, "[{}] at {}: the first axis of shape {} has {} entries", index, at.str(),
         to_string(shape_), shape_[0]);
  Tensor t = narrow(from_front, 1);
  t.shape_.erase(t.shape_.begin());
  return t;
}

std::vector<Tensor> Tensor::chunk(std::int64_t n, Caller at) const {
  check_defined(*this, at);
  if (n < 1) fail(Errc::invalid_argument, "chunk({}) at {}: at least one chunk is needed", n, at.str());
  if (shape_.empty())
    fail(Errc::invalid_argument, "chunk({}) at {}: a scalar has no axis to share out", n, at.str());
  std::vector<Tensor> chunks;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t lo = chunk_begin(shape_[0], i, n), hi = chunk_begin(shape_[0], i + 1, n);
    chunks.push_back(narrow(lo, hi - lo, at));
  }
  return chunks;
}

Tensor Tensor::clone(Caller at) const {
  Tensor t = empty_like(*this, at);
  copy(t.flat(), flat());
  return t;
}

Tensor Tensor::to(Device device, Caller at) const {
  check_defined(*this, at);
  if (device == flat_.device) return *this;
  return empty(shape_, flat_.dtype, device).copy_(*this, at);
}

Tensor Tensor::to(DType dtype, Caller at) const {
  check_defined(*this, at);
  if (dtype == flat_.dtype) return *this;
  return empty(shape_, dtype, flat_.device).copy_(*this, at);
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
  template std::span<T> Tensor::data<T>(Caller);                              \
  template std::span<const T> Tensor::data<T>(Caller) const;                  \
  template T Tensor::item<T>(Caller) const;                                   \
  template std::vector<T> Tensor::to_vector<T>(Caller) const;                 \
  template Tensor tensor<T>(std::initializer_list<T> values, Device, Caller); \
  template Tensor tensor<T>(std::span<const T> values, Device, Caller);
DIST_INSTANTIATE(std::uint8_t)
DIST_INSTANTIATE(std::int8_t)
DIST_INSTANTIATE(std::int32_t)
DIST_INSTANTIATE(std::int64_t)
DIST_INSTANTIATE(Half)
DIST_INSTANTIATE(BFloat16)
DIST_INSTANTIATE(float)
DIST_INSTANTIATE(double)
DIST_INSTANTIATE(bool)
#undef DIST_INSTANTIATE

}  // namespace dist
