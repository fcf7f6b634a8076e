// DataParallel's threads have a stream each: no thread reads what another's has not finished.
#include <gtest/gtest.h>

#include "dist/parallel/data_parallel.h"

#include "support/fake_device.h"

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

}  // namespace
}  // namespace dist::test
