// Steps that are recorded as CUDA graphs, alone and as ranks that are threads, against the same steps without
// graphs.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/device/recording.h"
#include "dist/dist.h"
#include "dist/nn/adam.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/gpt.h"
#include "dist/nn/graphed_step.h"
#include "dist/nn/random.h"
#include "dist/nn/settings.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "gpu/gpu_test.h"
#include "support/expect_error.h"
#include "support/ranks.h"
#include "unit/nn/gradient_check.h"
#include "unit/nn/row_cases.h"

namespace dist::nn {
namespace {

const Device gpu = cuda(0);
constexpr int steps = 10;

class GraphsOnGpu : public test::GpuTest {};

// cuDNN's fastest backward adds in any order, so the losses of two runs agree to rounding.
void expect_alike(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-3 * expected[i]) << "step " << i;
}

// How a ConvNet takes its steps: alone, or as a DistributedDataParallel, and with its collectives in the
// graph.
enum class Way { alone, cut, in_one_graph };

// The same step with a graph and without one. One batch is smaller, and does without the graph.
void expect_conv_net_alike(int rank, Way way) {
  std::vector<std::vector<double>> losses;
  for (const bool with_graph : {false, true}) {
    manual_seed(1);
    ConvNet model;
    model.skip_input_grad();
    model.to(gpu);
    std::optional<DistributedDataParallel> ddp;
    if (way != Way::alone)
      ddp.emplace(model, DdpOptions{.first_bucket_bytes = 32 << 10, .bucket_bytes = 32 << 10});
    Module& whole = ddp ? static_cast<Module&>(*ddp) : model;
    SGD optimizer(model.parameters(), {.momentum = 0.9});
    CrossEntropyLoss loss;
    GraphedStep graphed(gpu,
                        [&](const Tensor& inputs, const Tensor& targets) {
                          Loss value = loss.forward(whole.forward(inputs), targets);
                          optimizer.zero_grad();
                          whole.backward(loss.backward());
                          optimizer.step();
                          return value;
                        },
                        {.warm_up = with_graph ? 3 : steps, .has_collectives = way == Way::in_one_graph});
    std::vector<Loss> all;
    for (int i = 0; i < steps; ++i) {
      optimizer.set_lr(0.02 / (i + 1));
      const std::int64_t rows = i == 7 ? 5 : 8;
      all.push_back(
          graphed(scattered({rows, 1, 28, 28}, 100 * rank + i, DType::f32), arange(rows, DType::i64)));
    }
    EXPECT_EQ(graphed.is_recorded(), with_graph);
    EXPECT_TRUE(!with_graph || way != Way::in_one_graph || graphed.graphs() == 1);
    losses.emplace_back(all.begin(), all.end());
  }
  expect_alike(losses[1], losses[0]);
}

TEST_F(GraphsOnGpu, ConvNet) { expect_conv_net_alike(0, Way::alone); }

// Its kernels have no atomics, so the bits are the same. Dropout draws anew in each step.
TEST_F(GraphsOnGpu, Gpt) {
  std::vector<std::vector<double>> losses;
  for (const bool with_graph : {false, true}) {
    manual_seed(1);
    GptOptions options;
    options.vocab_size = 300, options.context = 70, options.layers = 2, options.heads = 4, options.width = 96;
    options.dropout = 0.1;
    GPT model(options);
    model.to(gpu);
    AdamW optimizer(model.parameters());
    CrossEntropyLoss loss;
    GraphedStep graphed(gpu,
                        [&](const Tensor& inputs, const Tensor& targets) {
                          Loss value = loss.forward(model.forward(inputs), targets);
                          optimizer.zero_grad();
                          model.backward(loss.backward());
                          clip_grad_norm(model.parameters(), 1);
                          optimizer.step();
                          return value;
                        },
                        {.warm_up = with_graph ? 3 : steps});
    const Tensor tokens = row_cases::indices(3 * 70, 0, 300, cpu).view({3, 70});
    std::vector<Loss> all;
    for (int i = 0; i < steps; ++i) {
      model.set_position({.seed = 1, .step = static_cast<std::uint64_t>(i)});
      optimizer.set_lr(1e-3 / (i + 1));
      all.push_back(graphed(tokens, tokens));
    }
    losses.emplace_back(all.begin(), all.end());
  }
  EXPECT_EQ(losses[1], losses[0]);
}

void expect_alike_by_ddp(const std::string& backend, int ranks, Way way) {
  test::RankOptions options;
  options.init.backend = backend;
  test::run_ranks(
      ranks, [&](int rank) { expect_conv_net_alike(rank, way); }, options);
}

TEST_F(GraphsOnGpu, RanksThatShareAGpu) {
  for (const int ranks : {1, 2, 4}) expect_alike_by_ddp("cuda", ranks, Way::cut);
}

// NCCL's calls are captured, in parallel with the backward pass.
TEST_F(GraphsOnGpu, AllReducesByNcclInTheGraph) { expect_alike_by_ddp("nccl", 1, Way::in_one_graph); }

TEST_F(GraphsOnGpu, RefusesToReadOnTheHost) {
  Tensor x = ones({1}, DType::f32, gpu);
  {
    const Recording recording(gpu);
    x.add_(x);
    EXPECT_DIST_ERROR(x.item<float>(), Errc::unsupported, "a copy between host and device");
  }
  EXPECT_EQ(x.item<float>(), 1) << "nothing of it was done, and the stream works on";
}

}  // namespace
}  // namespace dist::nn
