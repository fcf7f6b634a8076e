// What every kernel of kernels.h does on a device is what it does on the CPU, to the bit: on awkward sizes,
// and on views that begin one element later, which no 16-byte access may cross. For the real GPU
// (gpu/device_test.cpp) and for its kernels run on the CPU (kernels_test.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/axes.h"
#include "dist/core/device.h"
#include "dist/core/kernels.h"
#include "dist/core/shape.h"
#include "dist/dist.h"

#include "support/ranks.h"
#include "unit/device/device_sweep.h"

namespace dist::test {

inline Tensor numbers(std::int64_t count, int salt, DType dtype) {
  return contribution(salt, count, dtype, cpu);
}

// Five inputs and five outputs.
inline void expect_exact_reduction(Device device, ReduceOp op, DType dtype, std::int64_t count,
                                   std::int64_t shift) {
  std::array<Tensor, 5> here, there;
  std::array<TensorView, 5> here_views, there_views;
  for (std::size_t i = 0; i < here.size(); ++i) {
    here[i] = numbers(count + shift, static_cast<int>(i), dtype);
    there[i] = here[i].to(device);
    here_views[i] = here[i].flat().slice(shift, count);
    there_views[i] = there[i].flat().slice(shift, count);
  }
  reduce_many(here_views, here_views, op);
  reduce_many(there_views, there_views, op);
  for (std::size_t i = 0; i < here.size(); ++i)
    ASSERT_TRUE(equal(there[i], here[i])) << name(op.kind()) << " of " << count << " " << name(dtype)
                                          << ", shifted by " << shift << ", output " << i;
}

inline void expect_exact_reductions(Device device, std::span<const std::int64_t> counts) {
  for (const DType dtype : all_dtypes)
    for (const auto kind :
         {ReduceOp::Kind::sum, ReduceOp::Kind::avg, ReduceOp::Kind::product, ReduceOp::Kind::min,
          ReduceOp::Kind::max, ReduceOp::Kind::band, ReduceOp::Kind::bor, ReduceOp::Kind::bxor}) {
      if (!is_defined(kind, dtype)) continue;
      for (const std::int64_t count : counts)
        for (const std::int64_t shift : {0, 1})
          ASSERT_NO_FATAL_FAILURE(expect_exact_reduction(device, ReduceOp(kind), dtype, count, shift));
    }
}

inline void expect_exact_arithmetic(Device device, DType dtype, std::int64_t count, std::int64_t shift) {
  const Tensor a = numbers(count + shift, 1, dtype).narrow(shift, count),
               b = numbers(count + shift, 2, dtype).narrow(shift, count);
  const auto there = [&](int salt) {
    return numbers(count + shift, salt, dtype).to(device).narrow(shift, count);
  };
  const Tensor x = there(1), y = there(2);
  const auto expect_equal = [&](const Tensor& got, const Tensor& expected, std::string_view what) {
    ASSERT_TRUE(equal(got, expected))
        << what << " of " << count << " " << name(dtype) << ", shifted by " << shift;
  };
  expect_equal(x, a, "copy");
  Tensor filled = there(3);
  filled.fill_(3);
  expect_equal(filled, full({count}, 3, dtype), "fill");
  for (const DType other : all_dtypes) expect_equal(x.to(other), a.to(other), name(other));
  if (dtype == DType::boolean) return;
  expect_equal(x + y, a + b, "sum");
  expect_equal(x - y, a - b, "difference");
  expect_equal(x * y, a * b, "product");
  expect_equal(there(1).add_(y, 3), a.clone().add_(b, 3), "add_");
  Tensor quotient = there(1), cpu_quotient = a.clone();
  divide(quotient.flat(), 3);
  divide(cpu_quotient.flat(), 3);
  expect_equal(quotient, cpu_quotient, "divide");
  if (!is_floating_point(dtype)) return;
  expect_equal(x / y, a / b, "quotient");
  expect_equal(there(1).mul_(0.3), a * 0.3, "scale");
  expect_equal(sqrt(x), sqrt(a), "sqrt");
}

inline void expect_exact_arithmetic(Device device, std::span<const std::int64_t> counts) {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t count : counts)
      for (const std::int64_t shift : {0, 1})
        ASSERT_NO_FATAL_FAILURE(expect_exact_arithmetic(device, dtype, count, shift));
}

// A list of parts with different counts and at different distances from the boundaries of accesses. Some are
// empty, and there are more of them than one launch takes. Nothing beside them is touched.
inline void expect_exact_parts(Device device, DType dtype) {
  constexpr std::size_t n = 70;
  constexpr std::array<std::int64_t, 5> sizes{0, 1, 7, 1000, 4099};
  std::vector<Tensor> ins, copies, sums;
  std::vector<std::vector<TensorView>> views;
  std::vector<PartViews> copied, summed;
  const auto inner = [&](const Tensor& t, std::size_t i) {
    return t.flat().slice(static_cast<std::int64_t>(i % 5) + 1, sizes[i % sizes.size()]);
  };
  const auto list_of = [&](std::initializer_list<TensorView> list) -> std::span<const TensorView> {
    return views.emplace_back(list);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t whole = sizes[i % sizes.size()] + 10;
    for (int k = 0; k < 3; ++k) ins.push_back(numbers(whole, static_cast<int>(i) + k, dtype).to(device));
    for (int k = 0; k < 2; ++k) copies.push_back(full({whole}, 1, dtype, device));
    sums.push_back(full({whole}, 1, dtype, device));
    const auto in = [&](std::size_t k) { return inner(ins[3 * i + k], i); };
    const TensorView second = i % 7 == 0 ? copies[2 * i + 1].flat().slice(0, in(0).count)
                                         : inner(copies[2 * i + 1], i);  // further from a boundary, or nearer
    copied.push_back({.outs = list_of({inner(copies[2 * i], i), second}), .ins = list_of({in(0)})});
    summed.push_back({.outs = list_of({inner(sums[i], i)}), .ins = list_of({in(0), in(1), in(2)})});
  }
  DeviceApi& api = device_api(device.type);
  api.copy_parts(device, current_stream(device), copied);
  api.reduce_parts(device, current_stream(device), summed, ReduceOp::sum);
  const auto expected = [&](std::size_t i, std::int64_t at, const Tensor& values) {
    Tensor all = full({sizes[i % sizes.size()] + 10}, 1, dtype);
    all.narrow(at, values.numel()).copy_(values);
    return all;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::int64_t>(i % 5) + 1;
    const auto in = [&](std::size_t k) {
      return ins[3 * i + k].to(cpu).narrow(at, sizes[i % sizes.size()]).clone();
    };
    ASSERT_TRUE(equal(copies[2 * i], expected(i, at, in(0)))) << "copy " << i << " of " << name(dtype);
    ASSERT_TRUE(equal(copies[2 * i + 1], expected(i, i % 7 == 0 ? 0 : at, in(0)))) << "copy " << i;
    ASSERT_TRUE(equal(sums[i], expected(i, at, in(0) + in(1) + in(2))))
        << "sum " << i << " of " << name(dtype);
  }
}

inline void expect_exact_parts(Device device) {
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::i64})
    ASSERT_NO_FATAL_FAILURE(expect_exact_parts(device, dtype));
}

// Parts along the axes, put back and joined, and the axes exchanged.
inline void expect_exact_axes(Device device) {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{3, 0, 2}, Shape{5, 7, 3}, Shape{3, 5, 1}, Shape{2, 130, 65}})
    for (const DType dtype : {DType::i8, DType::bf16, DType::f64})
      for (const std::int64_t axis : {0, 1, 2}) {
        const Tensor here = numbers(product(shape), 1, dtype).view(shape), there = here.to(device);
        const std::vector<Tensor> expected = torch_chunk(here, 3, axis), parts = torch_chunk(there, 3, axis);
        Tensor rebuilt = zeros(shape, dtype, device);
        std::int64_t start = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          ASSERT_TRUE(equal(parts[i], expected[i])) << "part " << i << " along axis " << axis;
          put(rebuilt, axis, start, parts[i]);
          start += parts[i].size(axis);
        }
        ASSERT_TRUE(equal(rebuilt, here));
        ASSERT_TRUE(equal(cat(parts, axis), here));
        for (const std::int64_t other : {0, 1, 2})
          ASSERT_TRUE(equal(transpose(there, axis, other), transpose(here, axis, other)));
      }
}

}  // namespace dist::test
