// Element types, reduction operations and devices: the vocabulary of every call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dist/core/half.h"

namespace dist {

// The kind of number that an element is.
enum class DType : std::uint8_t { u8, i8, i32, i64, f16, bf16, f32, f64, boolean };

// Each DType once.
inline constexpr std::array all_dtypes{DType::u8,   DType::i8,  DType::i32, DType::i64,    DType::f16,
                                       DType::bf16, DType::f32, DType::f64, DType::boolean};

// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::i8:
    case DType::boolean: return 1;
    case DType::f16:
    case DType::bf16: return 2;
    case DType::i32:
    case DType::f32: return 4;
    case DType::i64:
    case DType::f64: return 8;
  }
  __builtin_unreachable();
}
std::string_view name(DType dtype);   // "f32", "bool", ...
bool is_floating_point(DType dtype);  // f16, bf16, f32, f64

// The DType of a C++ element type: dtype_of<float>() == DType::f32.
template <class T>
constexpr DType dtype_of();

// What a reduction does with two elements. `avg` is the sum divided by the number of ranks: a sum of integers
// wraps around, and its quotient is truncated towards zero; f16 and bf16 are summed in f32 and rounded once;
// where a sum of f32, f64 or bf16 is too large, so is its avg (inf), even if the mean would fit. (The nccl
// backend multiplies floats by 1/n before it adds them: such a mean is finite, and the last bit may differ.)
// `premul_sum(f)` multiplies every input by f first (floating point only). On bool, sum and max are "or",
// product and min are "and". Bit operations need integers or bool.
class ReduceOp {
 public:
  // The operation, without a factor.
  enum class Kind : std::uint8_t { sum, avg, product, min, max, band, bor, bxor, premul_sum };

  static const ReduceOp sum, avg, product, min, max, band, bor, bxor;
  // The sum of all inputs, each multiplied by `factor` first.
  static constexpr ReduceOp premul_sum(double factor) { return ReduceOp(Kind::premul_sum, factor); }

  constexpr ReduceOp() = default;
  // `factor` is for premul_sum; otherwise it is 1.
  constexpr explicit ReduceOp(Kind kind, double factor = 1) : kind_(kind), factor_(factor) {}

  constexpr Kind kind() const { return kind_; }        // the operation
  constexpr double factor() const { return factor_; }  // for premul_sum, otherwise 1
  friend constexpr bool operator==(const ReduceOp&, const ReduceOp&) = default;

 private:
  Kind kind_ = Kind::sum;
  double factor_ = 1;
};

inline constexpr ReduceOp ReduceOp::sum{Kind::sum};
inline constexpr ReduceOp ReduceOp::avg{Kind::avg};
inline constexpr ReduceOp ReduceOp::product{Kind::product};
inline constexpr ReduceOp ReduceOp::min{Kind::min};
inline constexpr ReduceOp ReduceOp::max{Kind::max};
inline constexpr ReduceOp ReduceOp::band{Kind::band};
inline constexpr ReduceOp ReduceOp::bor{Kind::bor};
inline constexpr ReduceOp ReduceOp::bxor{Kind::bxor};

std::string_view name(ReduceOp::Kind kind);  // "sum", "premul_sum", ...
// Whether elements of `dtype` can be reduced by `kind` at all (a backend may support fewer).
bool is_defined(ReduceOp::Kind kind, DType dtype);

// Where a tensor's memory is: on the host or on a GPU.
enum class DeviceType : std::uint8_t { cpu, cuda };

// One device of this host. Aligned so that it fills the end of a TensorView.
struct alignas(8) Device {
  DeviceType type = DeviceType::cpu;  // host or GPU
  int index = 0;                      // which GPU of this host
  friend constexpr bool operator==(const Device&, const Device&) = default;
  std::string str() const;  // "cpu", "cuda:0"
};
inline constexpr Device cpu{};  // the host
// GPU `index` of this host.
constexpr Device cuda(int index) { return {DeviceType::cuda, index}; }

// Calls `f.template operator()<T>()` with the C++ element type of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::u8: return f.template operator()<std::uint8_t>();
    case DType::i8: return f.template operator()<std::int8_t>();
    case DType::i32: return f.template operator()<std::int32_t>();
    case DType::i64: return f.template operator()<std::int64_t>();
    case DType::f16: return f.template operator()<Half>();
    case DType::bf16: return f.template operator()<BFloat16>();
    case DType::f32: return f.template operator()<float>();
    case DType::f64: return f.template operator()<double>();
    case DType::boolean: return f.template operator()<bool>();
  }
  __builtin_unreachable();
}

template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<Half>() {
  return DType::f16;
}
template <>
constexpr DType dtype_of<BFloat16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

}  // namespace dist
