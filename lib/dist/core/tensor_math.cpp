// Factories of tensors (full, zeros, ones, arange, ...) and their element-wise arithmetic, on the kernels of
// kernels.h, with the checks that name the caller's line.
#include <algorithm>
#include <cmath>

#include "dist/core/fail.h"
#include "dist/core/functors.h"
#include "dist/core/kernels.h"
#include "dist/core/shape.h"
#include "dist/core/tensor.h"

namespace dist {

namespace {

// Arithmetic needs equal shapes, dtypes and devices, and numbers rather than bool.
void check_operands(std::string_view what, const Tensor& a, const Tensor& b, Caller at) {
  const bool empty_handed = !a.is_defined() || !b.is_defined();
  if (empty_handed)
    fail(Errc::invalid_argument, "{} at {}: an operand is undefined (a default-constructed tensor)", what,
         at.str());
  if (a.shape() != b.shape())
    fail(Errc::invalid_argument, "{} at {}: shapes {} and {} differ", what, at.str(), to_string(a.shape()),
         to_string(b.shape()));
  if (a.dtype() != b.dtype())
    fail(Errc::invalid_argument, "{} at {}: dtypes {} and {} differ; convert one with .to()", what, at.str(),
         name(a.dtype()), name(b.dtype()));
  if (a.device() != b.device())
    fail(Errc::invalid_argument,
         "{} at {}: one operand is on {}, the other on {}; bring them together with .to()", what, at.str(),
         a.device().str(), b.device().str());
  if (a.dtype() == DType::boolean)
    fail(Errc::invalid_argument, "{} at {}: bool tensors have no arithmetic", what, at.str());
}

void check_floating(std::string_view what, const Tensor& t, Caller at) {
  if (!is_floating_point(t.dtype()))
    fail(Errc::invalid_argument,
         "{} at {} needs a floating point dtype, this tensor is {}; convert with .to(DType::f32)", what,
         at.str(), name(t.dtype()));
}

// An integer tensor would silently drop the fraction of such a number.
void check_number(std::string_view what, const Tensor& t, double number, Caller at) {
  if (!is_floating_point(t.dtype()) && number != std::trunc(number))
    fail(Errc::invalid_argument,
         "{} at {}: {} cannot be applied to {} elements without a loss; convert with .to() first", what,
         at.str(), number, name(t.dtype()));
}

Tensor binary_result(std::string_view what, const Tensor& a, Operand<const Tensor&> operand, BinaryOp op) {
  const auto& [b, at] = operand;
  check_operands(what, a, b, at);
  if (op == BinaryOp::divide) check_floating(what, a, at);
  Tensor out = empty_like(a, at);
  binary(out.flat(), a.flat(), b.flat(), op);
  return out;
}

Tensor unary_result(std::string_view what, const Tensor& a, UnaryOp op, Caller at) {
  Tensor out = empty_like(a, at);
  check_floating(what, a, at);
  unary(out.flat(), a.flat(), op);
  return out;
}

}  // namespace

Tensor full(Shape shape, double value, DType dtype, Device device, Caller at) {
  return empty(std::move(shape), dtype, device, at).fill_(value, at);
}
Tensor zeros(Shape shape, DType dtype, Device device, Caller at) {
  return full(std::move(shape), 0, dtype, device, at);
}
Tensor ones(Shape shape, DType dtype, Device device, Caller at) {
  return full(std::move(shape), 1, dtype, device, at);
}

Tensor arange(std::int64_t n, DType dtype, Device device, Caller at) {
  Tensor t = empty({n}, dtype, cpu, at);
  visit_dtype(dtype, [&]<class T>() {
    std::int64_t next = 0;
    for (T& element : t.data<T>()) element = convert_element<T>(next++);
  });
  return t.to(device);
}

Tensor empty_like(const Tensor& t, Caller at) {
  (void)t.raw(at);  // refuses an undefined tensor
  return empty(t.shape(), t.dtype(), t.device());
}
Tensor zeros_like(const Tensor& t, Caller at) { return empty_like(t, at).zero_(); }

Tensor& Tensor::add_(const Tensor& other, double alpha, Caller at) {
  check_operands("add_", *this, other, at);
  check_number("add_", *this, alpha, at);
  if (alpha == 1)
    binary(flat(), flat(), other.flat(), BinaryOp::add);
  else
    add_scaled(flat(), other.flat(), alpha);
  return *this;
}

Tensor& Tensor::mul_(const Tensor& other, Caller at) {
  check_operands("mul_", *this, other, at);
  binary(flat(), flat(), other.flat(), BinaryOp::multiply);
  return *this;
}

Tensor& Tensor::mul_(double factor, Caller at) {
  check_operands("mul_", *this, *this, at);
  check_number("mul_", *this, factor, at);
  if (is_floating_point(dtype()))
    scale(flat(), factor);
  else
    mul_(full(shape_, factor, DType::i64, device()).to(dtype()));  // wraps as the product does
  return *this;
}

Tensor& Tensor::div_(double divisor, Caller at) {
  check_operands("div_", *this, *this, at);
  check_floating("div_", *this, at);
  binary(flat(), flat(), full(shape_, divisor, dtype(), device()).flat(), BinaryOp::divide);
  return *this;
}

Tensor operator+(const Tensor& a, Operand<const Tensor&> b) {
  return binary_result("+", a, b, BinaryOp::add);
}
Tensor operator-(const Tensor& a, Operand<const Tensor&> b) {
  return binary_result("-", a, b, BinaryOp::subtract);
}
Tensor operator*(const Tensor& a, Operand<const Tensor&> b) {
  return binary_result("*", a, b, BinaryOp::multiply);
}
Tensor operator/(const Tensor& a, Operand<const Tensor&> b) {
  return binary_result("/", a, b, BinaryOp::divide);
}
Tensor operator*(const Tensor& a, Operand<double> factor) {
  return a.clone(factor.at).mul_(factor.value, factor.at);
}
Tensor exp(const Tensor& a, Caller at) { return unary_result("exp", a, UnaryOp::exp, at); }
Tensor sqrt(const Tensor& a, Caller at) { return unary_result("sqrt", a, UnaryOp::sqrt, at); }

double sum(const Tensor& a, Caller at) {
  double total = 0;
  for (const double element : a.to_vector<double>(at)) total += element;
  return total;
}

double max(const Tensor& a, Caller at) {
  const auto elements = a.to_vector<double>(at);
  if (elements.empty())
    fail(Errc::invalid_argument, "max at {}: a tensor of shape {} has no elements", at.str(),
         to_string(a.shape()));
  double largest = elements[0];
  for (const double element : elements) largest = functors::Max{}(largest, element);
  return largest;
}

bool equal(const Tensor& a, const Tensor& b, Caller at) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor left = a.to(cpu, at), right = b.to(cpu, at);
  return visit_dtype(a.dtype(),
                     [&]<class T>() { return std::ranges::equal(left.data<T>(), right.data<T>()); });
}

}  // namespace dist
