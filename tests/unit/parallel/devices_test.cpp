// Several devices of one process. DataParallel's threads have a stream each: no thread reads what another
// thread's stream has not finished. Models over two devices, alone and as replicas of a
// DistributedDataParallel.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/sequential.h"
#include "dist/parallel/data_parallel.h"
#include "dist/parallel/distributed_data_parallel.h"

#include "support/fake_device.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

// y = factor * x, row by row; the gradient of `factor` is the sum of x * grad over the rows.
class Factors : public nn::Module {
 public:
  Factors() {
    factors_.initialize(tensor({1.F, 2.F, 3.F}));
    register_parameter("factors", factors_);
  }
  Tensor run_forward(const Tensor& input) override {
    input_ = input;
    return rows_of(input);
  }
  Tensor run_backward(const Tensor& grad_output) override {
    for (std::int64_t i = 0; i < grad_output.size(0); ++i) factors_.grad.add_(input_[i] * grad_output[i]);
    factors_.grad_is_ready();
    return rows_of(grad_output);
  }

 private:
  Tensor rows_of(const Tensor& input) const {
    Tensor output = input.clone();
    for (std::int64_t i = 0; i < input.size(0); ++i) output[i].mul_(factors_.value);
    return output;
  }
  nn::Parameter factors_;
  Tensor input_;
};

TEST(DataParallelOnDevices, GivesWhatACpuGives) {
  const FakeDeviceGuard fake({.count = 2, .longest_rest = std::chrono::microseconds(300)});
  const auto factory = [] { return std::make_unique<Factors>(); };
  for (const std::vector<Device>& devices :
       {std::vector{cuda(0), cuda(0), cuda(0)}, std::vector{cuda(0), cuda(1), cuda(0)}}) {
    DataParallel model(factory, 3, devices);
    Factors alone;
    for (int round = 1; round <= 3; ++round) {
      const Tensor x = full({7, 3}, round), grad = full({7, 3}, round + 1);
      EXPECT_TRUE(equal(model.forward(x.to(cuda(0)) * 2).to(cpu), alone.forward(x * 2)));
      model.zero_grad();
      alone.zero_grad();
      EXPECT_TRUE(equal(model.backward(grad.to(cuda(0)) * 2).to(cpu), alone.backward(grad * 2)));
      EXPECT_TRUE(equal(model.parameters()[0]->grad.to(cpu), alone.parameters()[0]->grad));
    }
  }
}

// Three layers; with devices, the first two on one of them.
std::unique_ptr<nn::Sequential> layers_on(const std::vector<Device>& devices) {
  auto model = std::make_unique<nn::Sequential>();
  for (std::size_t i = 0; i < 3; ++i) {
    nn::Module& layer = model->add<Factors>();
    if (!devices.empty()) place(layer, devices[i / 2]);
  }
  return model;
}

Tensor batch_of(int round, int part) { return full({4, 3}, round + 10 * part); }

TEST(ModelOnTwoDevices, GivesWhatACpuGives) {
  const FakeDeviceGuard fake({.count = 2, .longest_rest = std::chrono::microseconds(300)});
  const auto model = layers_on({cuda(0), cuda(1)}), alone = layers_on({});
  for (int round = 1; round <= 3; ++round) {
    const Tensor x = batch_of(round, 0), grad = full({4, 3}, round + 1);
    const Tensor output = model->forward(x);
    EXPECT_EQ(output.device(), cuda(1));
    EXPECT_TRUE(equal(output.to(cpu), alone->forward(x)));
    const Tensor grad_input = model->backward(grad);
    EXPECT_EQ(grad_input.device(), cpu) << "where the input was";
    EXPECT_TRUE(equal(grad_input, alone->backward(grad)));
    for (std::size_t i = 0; i < 3; ++i) {
      const Tensor& found = model->parameters()[i]->grad;
      EXPECT_EQ(found.device(), cuda(static_cast<int>(i) / 2));
      EXPECT_TRUE(equal(found.to(cpu), alone->parameters()[i]->grad)) << i;
    }
  }
}

// Two ranks with two devices each.
TEST(ModelOnTwoDevices, IsAReplicaOfDistributedDataParallel) {
  const FakeDeviceGuard fake({.count = 4, .longest_rest = std::chrono::microseconds(300)});
  const auto alone = layers_on({});
  for (int part = 0; part < 2; ++part) {
    (void)alone->forward(batch_of(1, part));
    (void)alone->backward(full({4, 3}, 2));
  }
  RankOptions options;
  options.init.backend = "cuda";
  run_ranks(
      2,
      [&](int rank) {
        const auto model = layers_on({cuda(2 * rank), cuda(2 * rank + 1)});
        DistributedDataParallel ddp(*model, {.first_bucket_bytes = 1, .bucket_bytes = 1});
        for (int again = 0; again < 2; ++again) {
          ddp.zero_grad();
          (void)ddp.forward(batch_of(1, rank));
          (void)ddp.backward(full({4, 3}, 2));
          for (std::size_t i = 0; i < 3; ++i) {
            const Tensor& found = model->parameters()[i]->grad;
            EXPECT_EQ(found.device(), cuda(2 * rank + static_cast<int>(i) / 2));
            EXPECT_TRUE(equal(found.to(cpu) * 2, alone->parameters()[i]->grad)) << i;
          }
        }
      },
      options);
}

}  // namespace
}  // namespace dist::test
