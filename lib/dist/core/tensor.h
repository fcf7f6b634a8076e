// Tensor: shape, dtype, device and shared storage. A tensor is always contiguous, in row-major order: there
// are no strides, and its elements are one run of memory. Copying a Tensor shares its storage, as in PyTorch;
// clone() copies the elements. Not synchronised: if one of two threads that use a tensor writes it, that is a
// data race. A call that is refused throws Error{invalid_argument}, which names the caller's line.
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

// The number of elements along each axis, none negative; an empty shape is a scalar's, with one element.
using Shape = std::vector<std::int64_t>;

class Storage;  // one allocation; freed with its last Tensor

// An operator's argument, together with the caller's line, as operators take no further parameters.
template <class T>
struct Operand {
  T value;                                                                // the argument
  Caller at;                                                              // the line
  Operand(T of, Caller where = Caller::here()) : value(of), at(where) {}  // NOLINT: converts implicitly
};

// A handle on elements: copies share them.
class Tensor {
 public:
  Tensor() = default;  // undefined: is_defined() is false, and every other use throws

  // Called with the memory of from_blob() when the last tensor over it is gone.
  using Deleter = std::function<void(void* data)>;
  // A tensor over `data`, which stays the caller's: it must stay alive and in place while any tensor over it
  // lives. It is not in the arena, so peers cannot map it and transfers copy it through the library's
  // buffers.
  static Tensor from_blob(void* data, Shape shape, DType dtype = DType::f32, Device device = cpu,
                          Deleter deleter = {}, Caller at = Caller::here());

  bool is_defined() const { return storage_ != nullptr; }                          // false for Tensor{}
  const Shape& shape() const { return shape_; }                                    // elements along each axis
  std::int64_t dim() const { return static_cast<std::int64_t>(shape_.size()); }    // the number of axes
  std::int64_t size(std::int64_t axis, Caller at = Caller::here()) const;          // negative: from the back
  std::int64_t numel(Caller at = Caller::here()) const { return flat(at).count; }  // the number of elements
  std::size_t nbytes(Caller at = Caller::here()) const { return flat(at).bytes(); }  // bytes of all elements
  DType dtype() const { return flat_.dtype; }     // the type of each element
  Device device() const { return flat_.device; }  // where the elements are

  // The elements. Throws Error{invalid_argument} if T is not this dtype's C++ type, or the device is not the
  // CPU.
  template <class T>
  std::span<T> data(Caller at = Caller::here());
  template <class T>
  std::span<const T> data(Caller at = Caller::here()) const;             // the same, read-only
  void* raw(Caller at = Caller::here()) const { return flat(at).data; }  // first byte, on any device
  // All elements as a view; the view does not keep the storage alive.
  const TensorView& flat(Caller at = Caller::here()) const {
    if (!is_defined()) fail_undefined(at);
    return flat_;
  }

  // These share storage. Only the first axis can be narrowed or indexed: along others the result would not be
  // contiguous.
  // The same elements in another shape, in which one size may be -1: it is then computed. Throws if the
  // number of elements differs.
  Tensor view(Shape shape, Caller at = Caller::here()) const;
  // Rows `start` to `start + length` - 1 of the first axis.
  Tensor narrow(std::int64_t start, std::int64_t length, Caller at = Caller::here()) const;
  Tensor operator[](Operand<std::int64_t> index) const;  // row `index`; negative: from the back
  // The first axis in n chunks whose sizes differ by at most one (torch.chunk rounds the size up instead).
  std::vector<Tensor> chunk(std::int64_t n, Caller at = Caller::here()) const;

  // A copy in memory of its own.
  Tensor clone(Caller at = Caller::here()) const;
  Tensor to(Device device, Caller at = Caller::here()) const;  // this tensor itself if it is there already
  // A copy with elements of another dtype.
  Tensor to(DType dtype, Caller at = Caller::here()) const;
  // Copies the elements of `from`, of equal shape, into this tensor; converts the dtype and crosses devices.
  Tensor& copy_(const Tensor& from, Caller at = Caller::here());
  Tensor& fill_(double value, Caller at = Caller::here());            // every element
  Tensor& zero_(Caller at = Caller::here()) { return fill_(0, at); }  // every element becomes 0

  // In-place element-wise arithmetic on CPU and GPU: this += alpha * other. Shapes and dtypes must be equal.
  Tensor& add_(const Tensor& other, double alpha = 1, Caller at = Caller::here());
  // this *= other, element by element; shapes and dtypes must be equal.
  Tensor& mul_(const Tensor& other, Caller at = Caller::here());
  Tensor& mul_(double factor, Caller at = Caller::here());   // every element
  Tensor& div_(double divisor, Caller at = Caller::here());  // every element

  // What these elements must not be taken for, a literal that ends a sentence: "... holds a part of the
  // classes". It goes with views and copies (clone(), to()) of them, but not with what is computed from them.
  // A call that would take them for it quotes this and refuses them. Null: nothing.
  void set_caution(const char* text);
  const char* caution() const;  // what set_caution() has said, or null

  template <class T>
  T item(Caller at = Caller::here()) const;  // the only element, converted to T
  template <class T>
  std::vector<T> to_vector(Caller at = Caller::here()) const;  // all elements, converted to T, in order
  std::string str() const;  // "[1, 2, 3] f32"; large tensors are abbreviated

 private:
  friend Tensor empty(Shape, DType, Device, Caller);
  Tensor(std::shared_ptr<Storage> storage, Shape shape, std::int64_t count, DType dtype, Device device);
  [[noreturn]] static void fail_undefined(CallSite at);
  std::shared_ptr<Storage> storage_;
  Shape shape_;
  TensorView flat_;  // the elements, as many as the shape says
};

// The device on which this thread makes tensors when none is named: the CPU, until it sets another one, like
// torch.set_default_device. With DIST_DEVICE=cuda, init_process_group() sets it to the rank's GPU.
void set_default_device(Device device);
Device get_default_device();  // this thread's

// Factories, named as in torch. The memory comes from the device's arena, so peers can map it. They throw
// Error{resource} when it does not fit.
Tensor empty(Shape shape, DType dtype = DType::f32, Device device = get_default_device(),
             Caller at = Caller::here());  // uninitialised
Tensor zeros(Shape shape, DType dtype = DType::f32, Device device = get_default_device(),
             Caller at = Caller::here());  // all 0
Tensor ones(Shape shape, DType dtype = DType::f32, Device device = get_default_device(),
            Caller at = Caller::here());  // all 1
// Every element is `value`.
Tensor full(Shape shape, double value, DType dtype = DType::f32, Device device = get_default_device(),
            Caller at = Caller::here());
// 0, 1, ..., n-1.
Tensor arange(std::int64_t n, DType dtype = DType::f32, Device device = get_default_device(),
              Caller at = Caller::here());
Tensor empty_like(const Tensor& t, Caller at = Caller::here());  // same shape, dtype and device
Tensor zeros_like(const Tensor& t, Caller at = Caller::here());  // the same, all 0
// A one-dimensional tensor of these values; its dtype is that of their type: tensor({1.f, 2.f}) is f32,
// tensor({1, 2}) is i32.
template <class T>
Tensor tensor(std::initializer_list<T> values, Device device = get_default_device(),
              Caller at = Caller::here());
// The same from a run of values in memory.
template <class T>
Tensor tensor(std::span<const T> values, Device device = get_default_device(), Caller at = Caller::here());

// Element-wise arithmetic on CPU and GPU into a new tensor. Shapes, dtypes and devices must be equal;
// division needs floating point.
Tensor operator+(const Tensor& a, Operand<const Tensor&> b);
Tensor operator-(const Tensor& a, Operand<const Tensor&> b);  // a new tensor
Tensor operator*(const Tensor& a, Operand<const Tensor&> b);  // a new tensor
Tensor operator/(const Tensor& a, Operand<const Tensor&> b);  // a new tensor
Tensor operator*(const Tensor& a, Operand<double> factor);    // every element by `factor`
Tensor exp(const Tensor& a, Caller at = Caller::here());      // floating point dtypes
Tensor sqrt(const Tensor& a, Caller at = Caller::here());     // floating point dtypes
double sum(const Tensor& a, Caller at = Caller::here());      // accumulated in f64
double max(const Tensor& a, Caller at = Caller::here());      // needs at least one element
// Whether shape, dtype and elements are the same; compares values, so a NaN equals nothing.
bool equal(const Tensor& a, const Tensor& b, Caller at = Caller::here());

// Prints str().
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace dist
