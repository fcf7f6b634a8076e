// The GPU's kernels for layers, run on the CPU (support/cuda_on_cpu), give what the plain loops give: the
// same bits where each element is computed by itself, and where sums are taken in another order nearly the
// same.
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dist/core/shape.h"

#include "unit/nn/kernel_ops.h"

namespace dist::nn {
namespace {

class GpuKernels : public testing::Test {
 protected:
  // Twice, as grids run forwards and backwards.
  template <class Run, class Compare>
  void compare(const Run& run, const Compare& compare_results) {
    const auto expected = run(static_cast<const Ops&>(PlainOps()));
    for (int again = 0; again < 2; ++again) {
      const auto got = run(static_cast<const Ops&>(KernelOps()));
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) compare_results(got[i], expected[i], i);
    }
  }
};

// A channel has fewer values than a block has threads, as many, and more; and there is no value at all.
const std::array<Shape, 6> shapes{Shape{1, 1, 1, 1},  Shape{5, 3, 7, 9},    Shape{4, 2, 8, 8},
                                  Shape{2, 30, 3, 5}, Shape{33, 1, 11, 17}, Shape{0, 3, 2, 2}};

TEST_F(GpuKernels, Channels) {
  for (const Shape& shape : shapes)
    compare(
        [&](const Ops& ops) {
          const Tensor out = f32(shape, 1), sums = f32({shape[1]}, 2);
          ops.add_channels(out, f32({shape[1]}, 3));
          ops.add_channel_sums(sums, f32(shape, 4));
          return std::array{out, sums};
        },
        expect_close);
}

TEST_F(GpuKernels, Relu) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor special = tensor({nan, -0.0F, 0.0F, 1.0F, -1.0F});
  EXPECT_TRUE(std::isnan([&] {
    Tensor out = empty({5});
    KernelOps().relu(out, special);
    return out.data<float>()[0];
  }()));
  for (const Shape& shape : shapes)
    compare(
        [&](const Ops& ops) {
          const Tensor in = f32(shape, 1), out = empty(shape);
          Tensor grad = f32(shape, 2);
          ops.relu(out, in);
          ops.relu_backward(grad, grad, out);
          return std::array{out, grad};
        },
        expect_same);
}

TEST_F(GpuKernels, MaxPool) {
  const Tensor in = f32({3, 4, 11, 13}, 1);
  for (const Windows windows : {Windows{2, 2}, Windows{3, 1}, Windows{2, 3}, Windows{11, 1}})
    compare(
        [&](const Ops& ops) {
          const Shape shape{3, 4, windows.count(11), windows.count(13)};
          const Tensor out = empty(shape), winners = empty(shape, DType::i32), grad = empty(in.shape());
          ops.max_pool(out, winners, in, windows);
          ops.max_pool_backward(grad, f32(shape, 2), winners);
          return std::array{out, winners, grad};
        },
        [](const Tensor& got, const Tensor& expected, std::size_t which) {
          which < 2 ? expect_same(got, expected, which) : expect_close(got, expected, which);
        });
}

TEST_F(GpuKernels, MaxPoolPassesNanOn) {
  Tensor in = f32({1, 1, 4, 4}, 1), out = empty({1, 1, 2, 2}), winners = empty({1, 1, 2, 2}, DType::i32);
  in.data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  KernelOps().max_pool(out, winners, in, {2, 2});
  EXPECT_TRUE(std::isnan(out.data<float>()[0]));
  EXPECT_EQ(winners.data<std::int32_t>()[0], 5);
  EXPECT_FALSE(std::isnan(out.data<float>()[1]));
}

TEST_F(GpuKernels, BatchNorm) {
  for (const Shape& shape : shapes) {
    if (product(shape) <= 1) continue;  // the variance of one value is refused before
    for (const bool training : {true, false})
      compare(
          [&](const Ops& ops) {
            const Shape channels{shape[1]};
            const Tensor in = f32(shape, 1), out = empty(shape), grad_in = empty(shape);
            const NormTensors norm{.weight = f32(channels, 2),
                                   .bias = f32(channels, 3),
                                   .running_mean = f32(channels, 4),
                                   .running_var = squares(channels, 5),
                                   .mean = empty(channels),
                                   .invstd = empty(channels)};
            const Ops::NormGrads grads{.weight = f32(channels, 6), .bias = f32(channels, 7), .in = grad_in};
            ops.batch_norm(out, in, norm, {.eps = 1e-5, .momentum = 0.1, .training = training});
            ops.batch_norm_backward(grads, f32(shape, 8), in, norm, training);
            return std::array{out,         norm.running_mean, norm.running_var, norm.mean,
                              norm.invstd, grads.weight,      grads.bias,       grad_in};
          },
          expect_close);
  }
}

// Empty and small tensors, many chunks, and more tensors than one launch takes.
std::vector<Shape> shapes_of_list() {
  std::vector<Shape> all{{0}, {1}, {5000}, {0}, {3, 4096}, {}};
  for (std::int64_t i = 0; i < 200; ++i) all.push_back({i % 7});
  all.push_back({2049});
  return all;
}

std::vector<Tensor> list_of(double seed) {
  std::vector<Tensor> all;
  for (const Shape& shape : shapes_of_list()) all.push_back(f32(shape, seed += 1000));
  return all;
}

TEST_F(GpuKernels, OptimizersTakeTheSameStep) {
  compare(
      [&](const Ops& ops) {
        std::vector<SgdItem> plain, moved;
        std::vector<AdamItem> adapted;
        std::vector<Tensor> results;
        double seed = 1;
        for (const Shape& shape : shapes_of_list()) {
          const Tensor grad = f32(shape, seed);
          const double lr = 0.1 / ++seed, decay = 1e-3 * seed;
          plain.push_back({f32(shape, 1), grad, {}, lr, decay});
          moved.push_back({f32(shape, 1), grad, f32(shape, 2), lr, decay});
          adapted.push_back({f32(shape, 1), grad, f32(shape, 3), squares(shape, 4), lr, decay});
          for (const Tensor& t : {plain.back().value, moved.back().value, moved.back().velocity,
                                  adapted.back().value, adapted.back().m, adapted.back().v})
            results.push_back(t);
        }
        ops.sgd(plain, 0.9);
        ops.sgd(moved, 0.9);
        for (const bool decoupled : {false, true})
          ops.adam(adapted, {.beta1 = 0.9,
                             .beta2 = 0.999,
                             .eps = 1e-8,
                             .correction1 = 0.1,
                             .correction2 = 0.001,
                             .decoupled = decoupled});
        return results;
      },
      expect_same);
}

TEST_F(GpuKernels, SquaredNormOfAList) {
  const auto norm_of = [](const std::vector<Tensor>& list) {
    return [&list](const Ops& ops) {
      const Tensor out = empty({}, DType::f64);
      ops.squared_norm(out, list);
      return std::array{out};
    };
  };
  const std::vector<Tensor> any = list_of(1);
  compare(norm_of(any), [](const Tensor& got, const Tensor& expected, std::size_t) {
    EXPECT_NEAR(got.item<double>() / expected.item<double>(), 1, 1e-14);
  });
  std::vector<Tensor> whole = list_of(1);  // numbers whose sums are exact
  for (Tensor& t : whole) t = t.mul_(1000).to(DType::i32).to(DType::f32);
  for (const auto& list : {whole, std::vector<Tensor>{}, {f32({0}, 1)}, {f32({200000}, 1).fill_(3)}})
    compare(norm_of(list), expect_same);
}

TEST_F(GpuKernels, ZeroOfAList) {
  for (const DType dtype : {DType::f32, DType::bf16})
    compare(
        [&](const Ops& ops) {
          std::vector<Tensor> list = list_of(1);
          for (Tensor& t : list) t = t.to(dtype);
          ops.zero(list);
          return list;
        },
        expect_same);
}

TEST_F(GpuKernels, ClippingOfAList) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double squared : {0.0, 0.25, 1.0, 2.0, 1e10, inf})
    compare(
        [&](const Ops& ops) {
          const std::vector<Tensor> list = list_of(1);
          ops.clip(list, full({}, squared, DType::f64), 1);
          return list;
        },
        expect_same);
  const std::vector<Tensor> list{f32({3}, 1)};
  KernelOps().clip(list, full({}, std::nan(""), DType::f64), 1);
  EXPECT_TRUE(std::isnan(sum(list[0])));
}

}  // namespace
}  // namespace dist::nn
