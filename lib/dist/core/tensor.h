// Tensor: shape, dtype, device and shared storage. Always contiguous. Copying a Tensor shares its storage, as
// in PyTorch; clone() copies the elements. Not synchronised: two threads writing one tensor is a data race.
// What is refused is an Error{invalid_argument} that names the caller's line.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/types.h"
#include "dist/core/view.h"

namespace dist {

// Elements along each axis; empty: one element.
using Shape = std::vector<std::int64_t>;

class Storage;  // one allocation; freed with its last Tensor

// What an operator is given, and the line where: operators take no further argument.
template <class T>
struct Operand {
  T value;                                                                // what was given
  Caller at;                                                              // and where
  Operand(T of, Caller where = Caller::here()) : value(of), at(where) {}  // NOLINT: to be written as `of`
};

// A handle on elements: copies share them.
class Tensor {
 public:
  Tensor() = default;  // undefined: is_defined() is false and every other use is an Error{invalid_argument}

  // Memory that stays the caller's: alive and unmoved while any tensor over it lives. Not in the arena, so
  // peers cannot map it and transfers are staged. `deleter`, if any, gets `data` when the last tensor is
  // gone.
  using Deleter = std::function<void(void* data)>;
  static Tensor from_blob(void* data, Shape shape, DType dtype = DType::f32, Device device = cpu,
                          Deleter deleter = {}, Caller at = Caller::here());  // a tensor over such memory

  bool is_defined() const { return storage_ != nullptr; }                        // false of Tensor{}
  const Shape& shape() const { return shape_; }                                  // elements along each axis
  std::int64_t dim() const { return static_cast<std::int64_t>(shape_.size()); }  // how many axes
  std::int64_t size(std::int64_t axis, Caller at = Caller::here()) const;  // negative counts from the back
  std::int64_t numel(Caller at = Caller::here()) const { return flat(at).count; }    // elements
  std::size_t nbytes(Caller at = Caller::here()) const { return flat(at).bytes(); }  // bytes of all elements
  DType dtype() const { return flat_.dtype; }                                        // of each element
  Device device() const { return flat_.device; }                                     // where the elements lie

  // The elements, when T is this dtype and the device is the CPU; otherwise Error{invalid_argument}.
  template <class T>
  std::span<T> data(Caller at = Caller::here());
  template <class T>
  std::span<const T> data(Caller at = Caller::here()) const;             // the same, to read
  void* raw(Caller at = Caller::here()) const { return flat(at).data; }  // first byte, on any device
  // All elements as a view; the view does not keep the storage alive.
  const TensorView& flat(Caller at = Caller::here()) const {
    if (!is_defined()) fail_undefined(at);
    return flat_;
  }

  // These share storage. narrow() keeps [start, start + length) of the first axis (others would not be
  // contiguous).
  Tensor view(Shape shape, Caller at = Caller::here()) const;  // one entry may be -1
  // Rows `start` to `start + length` - 1 of the first axis; shares the memory.
  Tensor narrow(std::int64_t start, std::int64_t length, Caller at = Caller::here()) const;
  Tensor operator[](Operand<std::int64_t> index) const;  // drops the first axis
  // n shares of the first axis, balanced: sizes differ by at most one (torch.chunk rounds up instead).
  std::vector<Tensor> chunk(std::int64_t n, Caller at = Caller::here()) const;

  // A copy in memory of its own.
  Tensor clone(Caller at = Caller::here()) const;
  Tensor to(Device device, Caller at = Caller::here()) const;  // this when it is there already
  // A copy with elements of another dtype.
  Tensor to(DType dtype, Caller at = Caller::here()) const;
  Tensor& copy_(const Tensor& from,
                Caller at = Caller::here());                // equal shapes; converts dtype, crosses devices
  Tensor& fill_(double value, Caller at = Caller::here());  // every element
  Tensor& zero_(Caller at = Caller::here()) { return fill_(0, at); }  // every element becomes 0

  // In-place element-wise arithmetic, CPU and GPU: shapes equal.
  Tensor& add_(const Tensor& other, double alpha = 1, Caller at = Caller::here());
  // Element by element; equal shapes and dtypes.
  Tensor& mul_(const Tensor& other, Caller at = Caller::here());
  Tensor& mul_(double factor, Caller at = Caller::here());   // every element
  Tensor& div_(double divisor, Caller at = Caller::here());  // every element

  template <class T>
  T item(Caller at = Caller::here()) const;  // exactly one element; converts to T
  template <class T>
  std::vector<T> to_vector(Caller at = Caller::here()) const;  // all elements, converted to T, in order
  std::string str() const;  // "[1, 2, 3] f32"; long tensors are abbreviated

 private:
  friend Tensor empty(Shape, DType, Device, Caller);
  Tensor(std::shared_ptr<Storage> storage, Shape shape, std::int64_t count, DType dtype, Device device);
  [[noreturn]] static void fail_undefined(CallSite at);
  std::shared_ptr<Storage> storage_;
  Shape shape_;
  TensorView flat_;  // the elements, as many as the shape says
};

// Where this thread makes tensors when no device is named: on the CPU, until it sets another one, as
// torch.set_default_device does. With DIST_DEVICE=cuda init_process_group() sets it to the rank's GPU.
void set_default_device(Device device);
Device get_default_device();  // this thread's

// Factories, named as in torch. Memory comes from the device's arena: peers can map it.
Tensor empty(Shape shape, DType dtype = DType::f32, Device device = get_default_device(),
             Caller at = Caller::here());  // uninitialised
Tensor zeros(Shape shape, DType dtype = DType::f32, Device device = get_default_device(),
             Caller at = Caller::here());  // all 0
Tensor ones(Shape shape, DType dtype = DType::f32, Device device = get_default_device(),
            Caller at = Caller::here());  // all 1
// All `value`.
Tensor full(Shape shape, double value, DType dtype = DType::f32, Device device = get_default_device(),
            Caller at = Caller::here());
// 0, 1, ..., n-1.
Tensor arange(std::int64_t n, DType dtype = DType::f32, Device device = get_default_device(),
              Caller at = Caller::here());
Tensor empty_like(const Tensor& t, Caller at = Caller::here());  // of the same shape, dtype and device
Tensor zeros_like(const Tensor& t, Caller at = Caller::here());  // the same, all 0
// One-dimensional from values; the dtype is the element type's: tensor({1.f, 2.f}) is f32, tensor({1, 2}) is
// i32.
template <class T>
Tensor tensor(std::initializer_list<T> values, Device device = get_default_device(),
              Caller at = Caller::here());
template <class T>
// The same from a run of values in memory.
Tensor tensor(std::span<const T> values, Device device = get_default_device(), Caller at = Caller::here());

// Element-wise, equal shapes and dtypes; the result is new. CPU and GPU.
Tensor operator+(const Tensor& a, Operand<const Tensor&> b);
Tensor operator-(const Tensor& a, Operand<const Tensor&> b);  // new
Tensor operator*(const Tensor& a, Operand<const Tensor&> b);  // new
Tensor operator/(const Tensor& a, Operand<const Tensor&> b);  // new
Tensor operator*(const Tensor& a, Operand<double> factor);    // new
Tensor exp(const Tensor& a, Caller at = Caller::here());      // floating point
Tensor sqrt(const Tensor& a, Caller at = Caller::here());     // floating point
double sum(const Tensor& a, Caller at = Caller::here());      // accumulated in double
double max(const Tensor& a, Caller at = Caller::here());      // at least one element
bool equal(const Tensor& a, const Tensor& b,
           Caller at = Caller::here());  // same shape, dtype and elements; bit-wise for NaN-free data

// As str().
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace dist
