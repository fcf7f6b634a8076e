// Recorded steps of a DistributedDataParallel: a graph up to each bucket, and the bits of steps without
// graphs.
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/device/recording.h"
#include "dist/dist.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/graphed_step.h"
#include "dist/nn/random.h"
#include "dist/nn/sgd.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "support/expect_error.h"
#include "support/fake_layers.h"
#include "unit/device/on_backend.h"
#include "unit/nn/gradient_check.h"

namespace dist::test {
namespace {

constexpr int steps = 6;  // three before the graphs are there

struct Outcome {
  std::vector<double> losses;
  std::vector<Tensor> values;
  std::size_t graphs = 0;
};

Outcome train(int rank, bool with_graph, bool find_unused, CommHook hook = all_reduce_hook) {
  nn::manual_seed(1);
  const Device device = device_of(rank);
  nn::ConvNet model;
  model.skip_input_grad();
  model.to(device);
  DistributedDataParallel ddp(model, {.first_bucket_bytes = 32 << 10,
                                      .bucket_bytes = 32 << 10,
                                      .find_unused_parameters = find_unused,
                                      .hook = std::move(hook)});
  nn::SGD optimizer(model.parameters(), {.lr = 0.02, .momentum = 0.9});
  nn::CrossEntropyLoss loss;
  const auto take = [&](const Tensor& inputs, const Tensor& targets) {
    const nn::Loss value = loss.forward(ddp.forward(inputs), targets);
    optimizer.zero_grad();
    ddp.backward(loss.backward());
    optimizer.step();
    return value;
  };
  nn::GraphedStep graphed(device, take);
  Outcome outcome;
  for (int i = 0; i < steps; ++i) {
    const Tensor inputs = nn::scattered({2, 1, 28, 28}, 10 * rank + i, DType::f32),
                 targets = arange(2, DType::i64);
    optimizer.set_lr(0.02 / (i + 1));
    outcome.losses.push_back(with_graph ? graphed(inputs, targets).item()
                                        : take(inputs.to(device), targets.to(device)).item());
  }
  outcome.graphs = graphed.graphs();
  for (const auto& [name, tensor] : model.state_dict()) outcome.values.push_back(tensor.to(cpu));
  return outcome;
}

void expect_same(const Outcome& got, const Outcome& expected) {
  EXPECT_EQ(got.losses, expected.losses);
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (std::size_t i = 0; i < got.values.size(); ++i)
    EXPECT_TRUE(equal(got.values[i], expected.values[i])) << "tensor " << i;
}

TEST(GraphedDdp, HasTheBitsOfStepsWithoutGraphs) {
  for (const int devices : {1, 2})
    for (const bool find_unused : {false, true}) {
      const FakeLayersGuard fake({.count = devices, .longest_rest = std::chrono::microseconds(50)});
      run_ranks(
          2,
          [&](int rank) {
            const Outcome plain = train(rank, false, find_unused), graphed = train(rank, true, find_unused);
            expect_same(graphed, plain);
            EXPECT_GE(graphed.graphs, 3U) << "one up to each of several buckets";
            EXPECT_EQ(plain.graphs, 0U);
          },
          on_cuda());
    }
}

// One rank has the last, smaller batch while the other launches its graphs: the order of buckets is the same.
TEST(GraphedDdp, GoesTogetherWithARankWithoutGraphs) {
  const FakeLayersGuard fake({.longest_rest = std::chrono::microseconds(50)});
  run_ranks(
      2,
      [&](int rank) {
        const Outcome plain = train(rank, false, true), mixed = train(rank, rank == 0, true);
        expect_same(mixed, plain);
      },
      on_cuda());
}

TEST(GraphedDdp, HooksMayMakeTensors) {
  const FakeLayersGuard fake({.longest_rest = std::chrono::microseconds(50)});
  run_ranks(
      2,
      [&](int rank) {
        expect_same(train(rank, true, false, bf16_compress_hook),
                    train(rank, false, false, bf16_compress_hook));
      },
      on_cuda());
}

TEST(GraphedDdp, RefusesCollectivesOfTheStepItself) {
  const FakeLayersGuard fake;
  run_ranks(
      1,
      [&](int) {
        Tensor x = ones({3}, DType::f32, cuda(0));
        Recording recording(cuda(0));
        expect_error(Errc::unsupported,
                     {"all_reduce at graphed_ddp_test.cpp:", "while a step is recorded as a graph"},
                     [&] { all_reduce(x); });
      },
      on_cuda());
}

TEST(GraphedDdp, IsRecordedOnceItsBucketsStay) {
  const FakeLayersGuard fake;
  run_ranks(
      1,
      [&](int) {
        nn::ConvNet model;
        model.to(cuda(0));
        DistributedDataParallel ddp(model);
        nn::CrossEntropyLoss loss;
        nn::GraphedStep step(cuda(0),
                             [&](const Tensor& inputs, const Tensor& targets) {
                               const nn::Loss value = loss.forward(ddp.forward(inputs), targets);
                               ddp.backward(loss.backward());
                               return value;
                             },
                             {.warm_up = 1});
        const Tensor inputs = zeros({2, 1, 28, 28}), targets = zeros({2}, DType::i64);
        step(inputs, targets);
        expect_error(Errc::unsupported, {"record a later step", "warm_up of at least 2"},
                     [&] { step(inputs, targets); });
      },
      on_cuda());
}

}  // namespace
}  // namespace dist::test
