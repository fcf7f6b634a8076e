// Factories and element-wise arithmetic of Tensor, on the kernels.
#include <algorithm>
#include <cmath>

#include "dist/core/fail.h"
#include "dist/core/functors.h"
#include "dist/core/kernels.h"
#include "dist/core/shape.h"
#include "dist/core/tensor.h"

namespace dist {

namespace {

// Arithmetic wants equal shapes, dtypes and devices, and numbers.
void check_operands(std::string_view what, const Tensor& a, const Tensor& b) {
  const bool empty_handed = !a.is_defined() || !b.is_defined();
  if (empty_handed)
    fail(Errc::invalid_argument, "{}: an operand is undefined (a default-constructed tensor)", what);
  if (a.shape() != b.shape())
    fail(Errc::invalid_argument, "{}: shapes {} and {} differ", what, to_string(a.shape()),
         to_string(b.shape()));
  if (a.dtype() != b.dtype())
    fail(Errc::invalid_argument, "{}: dtypes {} and {} differ; convert one with .to()", what, name(a.dtype()),
         name(b.dtype()));
  if (a.device() != b.device())
    fail(Errc::invalid_argument, "{}: one operand is on {}, the other on {}; bring them together with .to()",
         what, a.device().str(), b.device().str());
  if (a.dtype() == DType::boolean) fail(Errc::invalid_argument, "{}: bool tensors have no arithmetic", what);
}

void check_floating(std::string_view what, const Tensor& t) {
  if (!is_floating_point(t.dtype()))
    fail(Errc::invalid_argument,
         "{} needs a floating point dtype, this tensor is {}; convert with .to(DType::f32)", what,
         name(t.dtype()));
}

// An integer tensor would silently lose the fraction of such a number.
void check_number(std::string_view what, const Tensor& t, double number) {
  if (!is_floating_point(t.dtype()) && number != std::trunc(number))
    fail(Errc::invalid_argument,
         "{}: {} cannot be applied to {} elements without a loss; convert with .to() first", what, number,
         name(t.dtype()));
}

Tensor binary_result(std::string_view what, const Tensor& a, const Tensor& b, BinaryOp op) {
  check_operands(what, a, b);
  if (op == BinaryOp::divide) check_floating(what, a);
  Tensor out = empty_like(a);
  binary(out.flat(), a.flat(), b.flat(), op);
  return out;
}

Tensor unary_result(std::string_view what, const Tensor& a, UnaryOp op) {
  Tensor out = empty_like(a);
  check_floating(what, a);
  unary(out.flat(), a.flat(), op);
  return out;
}

}  // namespace

Tensor full(Shape shape, double value, DType dtype, Device device) {
  return empty(std::move(shape), dtype, device).fill_(value);
}
Tensor zeros(Shape shape, DType dtype, Device device) { return full(std::move(shape), 0, dtype, device); }
Tensor ones(Shape shape, DType dtype, Device device) { return full(std::move(shape), 1, dtype, device); }

Tensor arange(std::int64_t n, DType dtype, Device device) {
  Tensor t = empty({n}, dtype, cpu);
  visit_dtype(dtype, [&]<class T>() {
    std::int64_t next = 0;
    for (T& element : t.data<T>()) element = convert_element<T>(next++);
  });
  return t.to(device);
}

Tensor empty_like(const Tensor& t) {
  (void)t.raw();  // refuses an undefined tensor
  return empty(t.shape(), t.dtype(), t.device());
}
Tensor zeros_like(const Tensor& t) { return empty_like(t).zero_(); }

Tensor& Tensor::add_(const Tensor& other, double alpha) {
  check_operands("add_", *this, other);
  check_number("add_", *this, alpha);
  if (alpha == 1)
    binary(flat(), flat(), other.flat(), BinaryOp::add);
  else
    add_scaled(flat(), other.flat(), alpha);
  return *this;
}

Tensor& Tensor::mul_(const Tensor& other) {
  check_operands("mul_", *this, other);
  binary(flat(), flat(), other.flat(), BinaryOp::multiply);
  return *this;
}

Tensor& Tensor::mul_(double factor) {
  check_operands("mul_", *this, *this);
  check_number("mul_", *this, factor);
  if (is_floating_point(dtype()))
    scale(flat(), factor);
  else
    mul_(full(shape_, factor, DType::i64, device()).to(dtype()));  // wraps as the product does
  return *this;
}

Tensor& Tensor::div_(double divisor) {
  check_operands("div_", *this, *this);
  check_floating("div_", *this);
  binary(flat(), flat(), full(shape_, divisor, dtype(), device()).flat(), BinaryOp::divide);
  return *this;
}

Tensor operator+(const Tensor& a, const Tensor& b) { return binary_result("+", a, b, BinaryOp::add); }
Tensor operator-(const Tensor& a, const Tensor& b) { return binary_result("-", a, b, BinaryOp::subtract); }
Tensor operator*(const Tensor& a, const Tensor& b) { return binary_result("*", a, b, BinaryOp::multiply); }
Tensor operator/(const Tensor& a, const Tensor& b) { return binary_result("/", a, b, BinaryOp::divide); }
Tensor operator*(const Tensor& a, double factor) { return a.clone().mul_(factor); }
Tensor exp(const Tensor& a) { return unary_result("exp", a, UnaryOp::exp); }
Tensor sqrt(const Tensor& a) { return unary_result("sqrt", a, UnaryOp::sqrt); }

double sum(const Tensor& a) {
  double total = 0;
  for (const double element : a.to_vector<double>()) total += element;
  return total;
}

double max(const Tensor& a) {
  const auto elements = a.to_vector<double>();
  if (elements.empty())
    fail(Errc::invalid_argument, "max: a tensor of shape {} has no elements", to_string(a.shape()));
  double largest = elements[0];
  for (const double element : elements) largest = functors::Max{}(largest, element);
  return largest;
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor left = a.to(cpu), right = b.to(cpu);
  return visit_dtype(a.dtype(),
                     [&]<class T>() { return std::ranges::equal(left.data<T>(), right.data<T>()); });
}

}  // namespace dist
