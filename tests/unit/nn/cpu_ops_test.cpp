// The fast operations of this build give what the plain loops give: on small integers, whose sums are exact.
#include "dist/nn/cpu_ops.h"

#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/nn/conv_net.h"
#include "dist/nn/plain_ops.h"
#include "dist/nn/settings.h"

#include "support/expect_error.h"
#include "unit/nn/gradient_check.h"

namespace dist::nn {
namespace {

class CpuOps : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(describe_cpu_ops()) != "oneDNN")
      GTEST_SKIP() << "nothing to compare: " << describe_cpu_ops();
  }
  const PlainOps plain_;
};

// From -3 to 3.
Tensor integers(Shape shape, double seed) {
  return (scattered(std::move(shape), seed) * 3.5).to(DType::i32).to(DType::f32);
}

void expect_equal(const Tensor& got, const Tensor& expected, const std::string& what) {
  EXPECT_TRUE(equal(got, expected)) << what;
}

// Forward, both gradients added to what was there, at an address that is aligned to elements only.
void compare_convolutions(const Ops& plain, const ConvolutionShape& shape, bool has_bias) {
  const auto what =
      fmt::format("{} channels to {}, batch {}, {}x{}, kernel {}, stride {}, padding {}{}", shape.input[1],
                  shape.out_channels, shape.input[0], shape.input[2], shape.input[3], shape.windows.kernel,
                  shape.windows.stride, shape.windows.padding, has_bias ? "" : ", no bias");
  const Tensor input = integers(shape.input, 3), weight = integers(shape.weight(), 1e3),
               grad = integers(shape.output(), 1e4);
  const Tensor bias = has_bias ? integers({shape.out_channels}, 1e5) : Tensor();
  struct Result {
    Tensor out, grad_weight, grad_bias, grad_input;
  };
  const auto run = [&](const Ops& ops) {
    const Tensor bucket = ones({weight.numel() + shape.out_channels + 1});
    Result r{.out = {},
             .grad_weight = bucket.narrow(1, weight.numel()).view(weight.shape()),
             .grad_bias = has_bias ? bucket.narrow(1 + weight.numel(), shape.out_channels) : Tensor(),
             .grad_input = {}};
    const auto convolution = ops.make_convolution(shape, DType::f32);
    for (int again = 0; again < 2; ++again) {
      r.out = convolution->forward(input, weight, bias);
      convolution->backward_parameters(r.grad_weight, r.grad_bias, grad);
      r.grad_input = convolution->backward_input(grad, weight);
    }
    return r;
  };
  const Result got = run(cpu_ops()), expected = run(plain);
  expect_equal(got.out, expected.out, what + ": output");
  expect_equal(got.grad_weight, expected.grad_weight, what + ": gradient of the weight");
  expect_equal(got.grad_input, expected.grad_input, what + ": gradient of the input");
  if (has_bias) expect_equal(got.grad_bias, expected.grad_bias, what + ": gradient of the bias");
}

TEST_F(CpuOps, Convolutions) {
  for (const std::int64_t batch : {1, 3, 8}) {
    for (const auto& [in, out] : {std::pair{1, 16}, {16, 32}, {3, 5}, {17, 33}}) {
      for (const auto& [kernel, stride, padding] :
           {std::tuple{5, 1, 2}, {3, 1, 0}, {3, 2, 1}, {1, 1, 0}, {2, 2, 0}, {4, 3, 3}}) {
        compare_convolutions(plain_, {{batch, in, 9, 14}, out, {kernel, stride, padding}}, true);
      }
    }
  }
  compare_convolutions(plain_, {{2, 3, 7, 7}, 4, {3, 1, 1}}, false);
  compare_convolutions(plain_, {{64, 1, 28, 28}, 16, {5, 1, 2}}, true);
}

TEST_F(CpuOps, MatrixProducts) {
  for (const auto& [m, n, depth] :
       {std::tuple{1, 1, 1}, {3, 5, 7}, {64, 10, 1568}, {10, 1568, 64}, {17, 1, 33}}) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        for (const bool adds : {false, true}) {
          const Tensor a = integers(a_transposed ? Shape{depth, m} : Shape{m, depth}, 1);
          const Tensor b = integers(b_transposed ? Shape{n, depth} : Shape{depth, n}, 2);
          Tensor got = integers({m, n}, 3), expected = integers({m, n}, 3);
          cpu_ops().matmul(got, {a, a_transposed}, {b, b_transposed}, adds);
          plain_.matmul(expected, {a, a_transposed}, {b, b_transposed}, adds);
          expect_equal(
              got, expected,
              fmt::format("{} x {} over {}, transposed {} {}", m, n, depth, a_transposed, b_transposed));
        }
      }
    }
  }
}

Tensor scattered_f32(Shape shape, double seed) { return scattered(std::move(shape), seed, DType::f32); }

// One thread may continue what another began, with any number of helpers.
TEST(Threads, GiveTheSameWhicheverAndHoweverMany) {
  const Tensor input = scattered_f32({4, 1, 28, 28}, 1), grad = scattered_f32({4, 10}, 2);
  const auto gradients_with = [&](int threads, bool elsewhere) {
    set_num_threads(threads);
    ConvNet model;
    for (Parameter* const p : model.parameters()) p->value.copy_(scattered_f32(p->value.shape(), 5));
    model.forward(input);
    if (elsewhere)
      std::thread([&] { model.backward(grad); }).join();
    else
      model.backward(grad);
    set_num_threads(1);
    return model.parameters()[0]->grad;
  };
  const Tensor alone = gradients_with(1, false);
  EXPECT_TRUE(equal(gradients_with(1, true), alone));
  const Tensor error = gradients_with(2, true) - alone;
  EXPECT_LE(std::sqrt(dot(error, error)), 1e-4 * std::sqrt(dot(alone, alone)));
}

TEST(Threads, AreAtLeastOne) {
  EXPECT_EQ(num_threads(), 1);
  EXPECT_DIST_ERROR(set_num_threads(0), Errc::invalid_argument,
                    "set_num_threads(0): at least one thread is needed");
}

}  // namespace
}  // namespace dist::nn
