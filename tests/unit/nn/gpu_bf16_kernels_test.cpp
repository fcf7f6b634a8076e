// The GPU's kernels in bf16, run on the CPU, against the plain loops in bf16: the same bits where each
// element is computed by itself, and where sums are taken in another order nearly all.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "unit/nn/kernel_ops.h"
#include "unit/nn/row_cases.h"

namespace dist::nn {
namespace {

Tensor bf16(const Shape& shape, double seed) { return scattered(shape, seed, DType::bf16); }

// Some elements may be rounded to the other neighbour.
void expect_nearly(const Tensor& got, const Tensor& expected, std::size_t which) {
  const Tensor size = expected.to(DType::f64), error = got.to(DType::f64) - size;
  EXPECT_LE(std::sqrt(dot(error, error)), 1e-3 * std::sqrt(dot(size, size))) << "result " << which;
}

template <class Run>
void compare(const Run& run, bool is_by_element) {
  const auto expected = run(static_cast<const Ops&>(PlainOps())),
             got = run(static_cast<const Ops&>(KernelOps()));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    is_by_element ? expect_same(got[i], expected[i], i) : expect_nearly(got[i], expected[i], i);
}

TEST(GpuBf16, Rows) {
  for (const RowCase& one : all_row_cases()) {
    SCOPED_TRACE(one.name);
    compare([&](const Ops& ops) { return one.run(ops, {cpu, DType::bf16}); }, one.is_by_element);
  }
}

TEST(GpuBf16, LayersOfImages) {
  const Shape shape{5, 3, 7, 9}, channels{3};
  compare(
      [&](const Ops& ops) {
        const Tensor out = bf16(shape, 1), result = empty_like(out), grad = bf16(shape, 2);
        ops.add_channels(out, bf16(channels, 3));
        ops.relu(result, out);
        ops.relu_backward(grad, grad, result);
        const Tensor pooled = empty({5, 3, 3, 4}, DType::bf16), winners = empty(pooled.shape(), DType::i32);
        ops.max_pool(pooled, winners, out, {2, 2});
        return std::array{out, result, grad, pooled, winners};
      },
      true);
  compare(
      [&](const Ops& ops) {
        const Tensor in = bf16(shape, 1), out = empty_like(in), grad_in = empty_like(in),
                     sums = bf16(channels, 2);
        ops.add_channel_sums(sums, in);
        const NormTensors norm{.weight = bf16(channels, 2),
                               .bias = bf16(channels, 3),
                               .running_mean = bf16(channels, 4),
                               .running_var = ones(channels, DType::bf16),
                               .mean = empty(channels),
                               .invstd = empty(channels)};
        const Ops::NormGrads grads{.weight = bf16(channels, 6), .bias = bf16(channels, 7), .in = grad_in};
        ops.batch_norm(out, in, norm, {.eps = 1e-5, .momentum = 0.1, .training = true});
        ops.batch_norm_backward(grads, bf16(shape, 8), in, norm, true);
        return std::array{sums,        out,          norm.running_mean, norm.running_var, norm.mean,
                          norm.invstd, grads.weight, grads.bias,        grad_in};
      },
      false);
}

// Master weights, and parameters in bf16 without; more of them than one launch takes.
TEST(GpuBf16, OptimizersTakeTheSameStep) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    compare(
        [dtype](const Ops& ops) {
          std::vector<SgdItem> plain, moved;
          std::vector<AdamItem> adapted;
          std::vector<Tensor> results;
          double seed = 1;
          for (std::int64_t i = 0; i < 120; ++i) {
            const Shape shape{i % 7 * (i == 20 ? 1000 : 1)};
            const auto of = [&](double first) { return scattered(shape, first, DType::f32).to(dtype); };
            const auto rounded = [&] { return dtype == DType::f32 ? empty(shape, DType::bf16) : Tensor(); };
            const Tensor grad = bf16(shape, seed);
            const double lr = 0.1 / ++seed, decay = 1e-3 * seed;
            plain.push_back({of(1), grad, {}, lr, decay, rounded()});
            moved.push_back({of(1), grad, of(2), lr, decay, rounded()});
            adapted.push_back({of(1), grad, of(3), of(4).mul_(of(4)), lr, decay, rounded()});
            for (const Tensor& t : {plain.back().value, plain.back().rounded, moved.back().value,
                                    moved.back().velocity, moved.back().rounded, adapted.back().value,
                                    adapted.back().m, adapted.back().v, adapted.back().rounded})
              if (t.is_defined()) results.push_back(t);
          }
          ops.sgd(plain, 0.9);
          ops.sgd(moved, 0.9);
          ops.adam(adapted, {.beta1 = 0.9,
                             .beta2 = 0.999,
                             .eps = 1e-8,
                             .correction1 = 0.1,
                             .correction2 = 0.001,
                             .decoupled = true});
          return results;
        },
        true);
  }
}

TEST(GpuBf16, NormAndClippingOfAList) {
  compare(
      [](const Ops& ops) {
        std::vector<Tensor> list{bf16({3000}, 1), bf16({0}, 2), bf16({7, 5}, 3)};
        const Tensor squared = empty({}, DType::f64);
        ops.squared_norm(squared, list);
        ops.clip(list, full({}, 4, DType::f64), 1);
        list.push_back((squared * 1000).to(DType::i64));
        return list;
      },
      true);
}

}  // namespace
}  // namespace dist::nn
