// Layers and optimizers on a GPU against the CPU, which is the reference (unit.nn).
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/nn/adam.h"
#include "dist/nn/batch_norm2d.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/nn/conv2d.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/cross_entropy.h"
#include "dist/nn/gpt.h"
#include "dist/nn/max_pool2d.h"
#include "dist/nn/plain_ops.h"
#include "dist/nn/random.h"
#include "dist/nn/relu.h"
#include "dist/nn/settings.h"
#include "dist/nn/sgd.h"

#include "gpu/gpu_test.h"
#include "support/expect_error.h"
#include "unit/nn/gradient_check.h"
#include "unit/nn/row_cases.h"

namespace dist::nn {
namespace {

const Device gpu = cuda(0);

// Comparisons with the CPU need convolutions in f32.
class NnOnGpu : public test::GpuTest {
 protected:
  NnOnGpu() { set_tf32_convolutions(false); }
  ~NnOnGpu() override { set_tf32_convolutions(true); }
};

Tensor f32(Shape shape, double seed) { return scattered(std::move(shape), seed, DType::f32); }

// Compares by the norm, because a GPU adds in another order.
void expect_close(const Tensor& got, const Tensor& expected, double relative, const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  const Tensor here = got.to(cpu).to(DType::f64), size = expected.to(DType::f64), error = here - size;
  EXPECT_LE(std::sqrt(dot(error, error)), relative * std::sqrt(dot(size, size)) + 1e-7) << what;
}

// The same layer on both: output, gradients (twice, as they add up) and buffers.
template <class Make>
void compare(const Make& make, const Shape& shape, bool training = true) {
  const auto on_cpu = make(), on_gpu = make();
  for (std::size_t k = 0; k < on_cpu->parameters().size(); ++k)
    for (Module* const module : {static_cast<Module*>(on_cpu.get()), static_cast<Module*>(on_gpu.get())})
      module->parameters()[k]->value.copy_(
          f32(module->parameters()[k]->value.shape(), 1e3 * static_cast<double>(k)));
  on_gpu->to(gpu);
  on_cpu->train(training);
  on_gpu->train(training);
  const Tensor input = f32(shape, 5);
  for (int again = 0; again < 2; ++again) {
    const Tensor expected = on_cpu->forward(input), got = on_gpu->forward(input.to(gpu));
    expect_close(got, expected, 1e-5, on_cpu->str() + ": output");
    const Tensor grad = f32(expected.shape(), 7);
    expect_close(on_gpu->backward(grad.to(gpu)), on_cpu->backward(grad), 1e-4,
                 on_cpu->str() + ": gradient of the input");
  }
  for (std::size_t k = 0; k < on_cpu->parameters().size(); ++k)
    expect_close(on_gpu->parameters()[k]->grad, on_cpu->parameters()[k]->grad, 1e-4,
                 on_cpu->str() + ": gradient of " + on_cpu->named_parameters()[k].name);
  for (std::size_t k = 0; k < on_cpu->named_buffers().size(); ++k)
    expect_close(on_gpu->named_buffers()[k].buffer->value, on_cpu->named_buffers()[k].buffer->value, 1e-5,
                 on_cpu->str() + ": " + on_cpu->named_buffers()[k].name);
}

TEST_F(NnOnGpu, Linear) {
  for (const auto& [batch, in, out] : {std::tuple{1, 1, 1}, {5, 3, 7}, {64, 1568, 10}})
    compare([in = in, out = out] { return std::make_unique<Linear>(in, out); }, {batch, in});
}

TEST_F(NnOnGpu, Conv2d) {
  for (const auto& [kernel, stride, padding] : {std::tuple{5, 1, 2}, {3, 2, 1}, {1, 1, 0}, {2, 3, 3}})
    for (const std::int64_t in : {1, 3, 16})
      compare(
          [=, kernel = kernel, stride = stride, padding = padding] {
            return std::make_unique<Conv2d>(in, 5, kernel,
                                            Conv2dOptions{.stride = stride, .padding = padding});
          },
          {3, in, 9, 14});
}

// cuDNN wants an alignment of 16 bytes, which the second of three images of 25 elements does not have.
TEST_F(NnOnGpu, Conv2dOfViewsThatBeginAnywhere) {
  const Tensor images = f32({3, 1, 5, 5}, 5), grads = f32({3, 1, 3, 3}, 7);
  Conv2d on_cpu(1, 1, 3), on_gpu(1, 1, 3);
  for (std::size_t k = 0; k < on_cpu.parameters().size(); ++k)
    on_gpu.parameters()[k]->value.copy_(on_cpu.parameters()[k]->value);
  on_gpu.to(gpu);
  expect_close(on_gpu.forward(images.to(gpu).narrow(1, 2)), on_cpu.forward(images.narrow(1, 2)), 1e-5,
               "output");
  expect_close(on_gpu.backward(grads.to(gpu).narrow(1, 2)), on_cpu.backward(grads.narrow(1, 2)), 1e-4,
               "gradient of the input");
  for (std::size_t k = 0; k < on_cpu.parameters().size(); ++k)
    expect_close(on_gpu.parameters()[k]->grad, on_cpu.parameters()[k]->grad, 1e-4, "gradient of a parameter");
}

// Factors have 11 significant bits, and each precision has a plan of its own.
TEST_F(NnOnGpu, PrecisionOfConvolutions) {
  const Tensor images = f32({4, 16, 14, 14}, 5);
  Conv2d on_cpu(16, 32, 5), on_gpu(16, 32, 5);
  for (std::size_t k = 0; k < on_cpu.parameters().size(); ++k)
    on_gpu.parameters()[k]->value.copy_(on_cpu.parameters()[k]->value);
  on_gpu.to(gpu);
  const Tensor expected = on_cpu.forward(images);
  for (const bool tf32 : {true, false, true, false}) {
    set_tf32_convolutions(tf32);
    expect_close(on_gpu.forward(images.to(gpu)), expected, tf32 ? 2e-3 : 1e-5, tf32 ? "TF32" : "f32");
  }
}

// cuDNN adds to the gradient itself where it begins at 16 bytes.
TEST_F(NnOnGpu, GradientsOfConvolutionsAddUpWhereverTheyBegin) {
  const Tensor images = f32({2, 3, 8, 8}, 5), grads = f32({2, 5, 6, 6}, 7);
  Conv2d on_cpu(3, 5, 3);
  on_cpu.forward(images);
  on_cpu.backward(grads);
  for (const std::int64_t begin : {0, 1, 4}) {
    Conv2d on_gpu(3, 5, 3);
    on_gpu.to(gpu);
    Parameter& weight = *on_gpu.parameters()[0];
    weight.grad = ones({begin + weight.grad.numel()}, DType::f32, gpu)
                      .narrow(begin, weight.grad.numel())
                      .view(weight.grad.shape());
    on_gpu.forward(images.to(gpu));
    on_gpu.backward(grads.to(gpu));
    expect_close(weight.grad, on_cpu.parameters()[0]->grad + ones(weight.value.shape()), 1e-4,
                 fmt::format("{} elements behind 16 bytes", begin));
  }
}

TEST_F(NnOnGpu, BatchNormReluAndPooling) {
  for (const bool training : {true, false})
    compare([] { return std::make_unique<BatchNorm2d>(3); }, {4, 3, 5, 7}, training);
  compare([] { return std::make_unique<ReLU>(); }, {5, 7});
  for (const auto& [kernel, stride] : {std::pair{2, 2}, {3, 1}, {2, 3}})
    compare(
        [kernel = kernel, stride = stride] {
          return std::make_unique<MaxPool2d>(kernel, MaxPool2dOptions{.stride = stride});
        },
        {2, 3, 8, 9});
}

TEST_F(NnOnGpu, TrainsAsTheCpuDoes) {
  const auto losses_on = [](Device device, bool adam) {
    manual_seed(1);
    ConvNet model;
    for (const auto& [name, parameter] : model.named_parameters())
      if (parameter->value.dim() != 1) parameter->value.copy_(f32(parameter->value.shape(), 3)).mul_(0.1);
    model.to(device);
    std::unique_ptr<Optimizer> optimizer;
    if (adam)
      optimizer = std::make_unique<Adam>(model.parameters());
    else
      optimizer = std::make_unique<SGD>(model.parameters(),
                                        SGDOptions{.lr = 0.01, .momentum = 0.9, .weight_decay = 1e-3});
    CrossEntropyLoss loss;
    std::vector<double> losses;
    for (int step = 0; step < 5; ++step) {
      model.zero_grad();
      losses.push_back(
          loss.forward(model.forward(f32({8, 1, 28, 28}, step).to(device)), arange(8, DType::i64)));
      model.backward(loss.backward());
      optimizer->step();
    }
    return losses;
  };
  for (const bool adam : {false, true}) {
    const auto expected = losses_on(cpu, adam), got = losses_on(gpu, adam);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 1e-3 * expected[i]) << "step " << i;
  }
}

TEST_F(NnOnGpu, RowsAndAttentionAreWhatPlainLoopsCompute) {
  for (const RowCase& one : all_row_cases()) {
    const auto got = one.run(ops_for(gpu), gpu), again = one.run(ops_for(gpu), gpu),
               expected = one.run(PlainOps(), cpu);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::string what = fmt::format("{}, result {}", one.name, i);
      expect_close(got[i], expected[i], 2e-6, what);
      EXPECT_TRUE(equal(got[i].to(cpu), again[i].to(cpu))) << what << ": other bits the second time";
    }
  }
}

// Some elements may be rounded to the other neighbour.
TEST_F(NnOnGpu, RowsAndAttentionInBf16AreWhatPlainLoopsCompute) {
  for (const RowCase& one : all_row_cases()) {
    const auto got = one.run(ops_for(gpu), {gpu, DType::bf16}),
               expected = one.run(PlainOps(), {cpu, DType::bf16});
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      expect_close(got[i], expected[i], 2e-3, fmt::format("{}, result {}", one.name, i));
  }
}

TEST_F(NnOnGpu, PrecisionOfMatrixProducts) {
  const Tensor a = f32({70, 300}, 1), b = f32({300, 50}, 2);
  Tensor expected = empty({70, 50}), got = empty({70, 50}, DType::f32, gpu);
  PlainOps().matmul(expected, {a}, {b}, false);
  const std::pair<const char*, double> bounds[]{{"highest", 1e-6}, {"high", 2e-3}, {"medium", 1e-2}};
  for (const auto& [precision, bound] : bounds) {
    set_matmul_precision(precision);
    ops_for(gpu).matmul(got, {a.to(gpu)}, {b.to(gpu)}, false);
    expect_close(got, expected, bound, precision);
  }
  set_matmul_precision("highest");
}

GptOptions small_gpt(bool llama) {
  GptOptions options;
  options.vocab_size = 300, options.context = 70, options.layers = 2, options.heads = 4, options.width = 96;
  options.dropout = 0.1;
  if (llama) {
    options.kv_heads = 2, options.bias = false, options.tied = false;
    options.rms_norm = options.gated = options.rotary = true;
  }
  return options;
}

// All gradients of one step, as one vector, since those of single parameters can be 0 apart from rounding.
TEST_F(NnOnGpu, AStepOfGptIsTheCpus) {
  for (const bool llama : {false, true}) {
    const auto step_on = [&](Device device) {
      manual_seed(1);
      GPT model(small_gpt(llama));
      model.to(device);
      model.set_position({.seed = 1, .step = 2});
      model.zero_grad();
      const Tensor tokens = row_cases::indices(3 * 70, 0, 300, device).view({3, 70});
      CrossEntropyLoss loss;
      const double value = loss.forward(model.forward(tokens), tokens);
      model.backward(loss.backward());
      std::vector<Tensor> gradients;
      for (Parameter* const parameter : model.parameters()) gradients.push_back(parameter->grad.to(cpu));
      return std::pair(value, gradients);
    };
    const auto [expected_loss, expected] = step_on(cpu);
    const auto [loss, got] = step_on(gpu);
    EXPECT_NEAR(loss, expected_loss, 1e-5 * expected_loss) << (llama ? "Llama" : "GPT-2");
    double error = 0, size = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
      const Tensor right = expected[k].to(DType::f64), difference = got[k].to(DType::f64) - right;
      error += dot(difference, difference);
      size += dot(right, right);
    }
    EXPECT_LE(std::sqrt(error), 1e-4 * std::sqrt(size)) << (llama ? "Llama" : "GPT-2");
  }
}

TEST_F(NnOnGpu, GptTrainsAsOnTheCpu) {
  const auto losses_on = [](Device device) {
    manual_seed(1);
    GPT model(small_gpt(false));
    model.to(device);
    Adam optimizer(model.parameters());
    CrossEntropyLoss loss;
    std::vector<double> losses;
    for (std::uint64_t step = 0; step < 5; ++step) {
      model.set_position({.step = step});
      model.zero_grad();
      const Tensor tokens = row_cases::indices(3 * 70, 0, 300, device).view({3, 70});
      losses.push_back(loss.forward(model.forward(tokens), tokens));
      model.backward(loss.backward());
      optimizer.step();
    }
    return losses;
  };
  const auto expected = losses_on(cpu), got = losses_on(gpu);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-3 * expected[i]) << "step " << i;
}

TEST_F(NnOnGpu, RefusesHeadsThatAreTooLarge) {
  CausalSelfAttention attention(192);
  attention.to(gpu);
  EXPECT_DIST_ERROR(attention.forward(zeros({1, 2, 192}, DType::f32, gpu)), Errc::unsupported,
                    "attention on cuda:0: heads of size 192, at most 128 is possible there");
}

// More parameters than one kernel takes.
TEST_F(NnOnGpu, ClipsAndTakesAStepAsTheCpuDoes) {
  std::vector<double> norms;
  std::vector<std::vector<Tensor>> values;
  for (const Device device : {cpu, gpu}) {
    std::array<Parameter, 200> parameters;
    std::vector<Parameter*> all;
    for (Parameter& parameter : parameters) {
      const auto rows = static_cast<std::int64_t>(all.size()) % 50;
      parameter.initialize(f32({rows, 300}, 1).to(device));
      parameter.grad.copy_(f32({rows, 300}, static_cast<double>(all.size())).to(device));
      all.push_back(&parameter);
    }
    norms.push_back(clip_grad_norm(all, 1));
    AdamW(all, {.lr = 0.1}).step();
    values.emplace_back();
    for (Parameter* const parameter : all) values.back().push_back(parameter->value);
  }
  EXPECT_NEAR(norms[1] / norms[0], 1, 1e-12);
  for (std::size_t i = 0; i < values[0].size(); ++i)
    expect_close(values[1][i], values[0][i], 1e-6, fmt::format("parameter {}", i));
}

TEST_F(NnOnGpu, RefusesToStepOnNan) {
  Parameter x;
  x.initialize(ones({3}).to(gpu));
  x.grad.fill_(std::nan(""));
  EXPECT_DIST_ERROR(clip_grad_norm(std::vector{&x}, 1, {.error_if_nonfinite = true}), Errc::invalid_argument,
                    "the gradient of parameter 0 has norm nan");
}

TEST_F(NnOnGpu, ComputesInF32Alone) {
  Linear layer(2, 2);
  layer.to(DType::f64);
  layer.to(gpu);
  EXPECT_DIST_ERROR(layer.forward(zeros({1, 2}, DType::f64, gpu)), Errc::unsupported,
                    "layers on cuda:0 compute in f32");
}

}  // namespace
}  // namespace dist::nn
