// What modules offer to code that works around them: hooks, several forwards in flight, deferred gradients of
// parameters, recomputation.
#include <gtest/gtest.h>

#include "dist/nn/checkpoint.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/linear.h"
#include "dist/nn/random.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"

#include "support/expect_error.h"

namespace dist::nn {
namespace {

Sequential make_model() {
  manual_seed(1);
  return Sequential(std::make_unique<Linear>(3, 4), std::make_unique<ReLU>(), std::make_unique<Linear>(4, 2));
}

std::vector<Tensor> grads_of(Module& model) {
  std::vector<Tensor> grads;
  for (const Parameter* const parameter : model.parameters()) grads.push_back(parameter->grad.clone());
  return grads;
}

void expect_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(equal(a[i], b[i])) << i;
}

// Batches that differ.
Tensor batch(int i) { return arange(6).view({2, 3}) * (i + 1); }

class Writes final : public ModuleHook {
 public:
  Writes(std::string& to, std::string name) : to_(to), name_(std::move(name)) {}
  Tensor before_forward(Module&, const Tensor& t) override { return said("f(", t); }
  Tensor after_forward(Module&, const Tensor& t) override { return said("f)", t); }
  Tensor before_backward(Module&, const Tensor& t) override { return said("b(", t); }
  void on_input_grad(Module&, Tensor& t) override { (void)said("i", t); }
  Tensor after_backward(Module&, const Tensor& t) override { return said("b)", t); }

 private:
  Tensor said(const char* what, const Tensor& t) {
    to_ += what + name_ + ' ';
    return t;
  }
  std::string& to_;
  std::string name_;
};

TEST(ModuleHook, TheFirstIsTheOutermost) {
  std::string said;
  Linear layer(3, 2);
  layer.add_hook(std::make_shared<Writes>(said, "1"));
  layer.add_hook(std::make_shared<Writes>(said, "2"));
  for (Parameter* const parameter : layer.parameters())
    parameter->listen("test", &said, [&said] { said += "ready "; });
  layer.forward(batch(0));
  layer.backward(ones({2, 2}));
  EXPECT_EQ(said, "f(1 f(2 f)2 f)1 b(1 b(2 i2 i1 ready ready b)2 b)1 ");
}

class Doubles final : public ModuleHook {
  Tensor before_forward(Module&, const Tensor& t) override { return t * 2; }
  Tensor after_backward(Module&, const Tensor& t) override { return t * 2; }
};

TEST(ModuleHook, ChangesWhatFlowsInPlace) {
  Sequential plain = make_model(), hooked = make_model();
  hooked[2].add_hook(std::make_shared<Doubles>());
  const Tensor x = batch(0), grad = ones({2, 2});
  const Tensor hidden = plain[1].forward(plain[0].forward(x));
  EXPECT_TRUE(equal(hooked.forward(x), plain[2].forward(hidden * 2)));
  EXPECT_TRUE(
      equal(hooked.backward(grad), plain[0].backward(plain[1].backward(plain[2].backward(grad) * 2))));
  expect_equal(grads_of(hooked), grads_of(plain));
}

TEST(Parameter, HasOneListenerPerRole) {
  Parameter parameter;
  parameter.initialize(zeros({1}));
  std::string said;
  const int a = 0, b = 0;
  parameter.listen("one", &a, [&] { said += "a"; });
  parameter.listen("other", &a, [&] { said += "c"; });
  parameter.listen("one", &b, [&] { said += "b"; });
  EXPECT_EQ(parameter.listener("one"), &b);
  parameter.stop_listening("one", &a);  // which b has replaced
  parameter.grad_is_ready();
  EXPECT_EQ(said, "bc");
  parameter.stop_listening("one", &b);
  EXPECT_EQ(parameter.listener("one"), nullptr);
}

template <class Model>
void several_under_way(Model& model, Model& alone, const std::function<Tensor(int)>& input,
                       const Tensor& grad) {
  model.set_forwards_kept(3);
  std::vector<Tensor> expected;
  for (int i = 0; i < 3; ++i) {
    alone.forward(input(i));
    expected.push_back(alone.backward(grad));
  }
  for (int i = 0; i < 3; ++i) model.forward(input(i));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(model.backward(grad), expected[static_cast<std::size_t>(i)]));
  expect_equal(grads_of(model), grads_of(alone));
  EXPECT_DIST_ERROR(model.backward(grad), Errc::invalid_argument, "without a forward()");
  model.forward(input(0));
  model.set_forwards_kept(1);
  model.forward(input(1));  // drops the first
  model.backward(grad);
  EXPECT_DIST_ERROR(model.backward(grad), Errc::invalid_argument, "without a forward()");
  EXPECT_DIST_ERROR(model.set_forwards_kept(0), Errc::invalid_argument, "at least one forward() is kept");
}

TEST(Kept, ForwardsHaveTheirBackwardsInTheirOrder) {
  Sequential model = make_model(), alone = make_model();
  several_under_way(model, alone, batch, ones({2, 2}));
}

TEST(Kept, ConvolutionsToo) {
  const auto make = [] {
    manual_seed(1);
    return std::make_unique<ConvNet>();
  };
  const auto model = make(), alone = make();
  several_under_way(
      *model, *alone,
      [](int i) {
        return full({2, 1, 28, 28}, i + 1);
      },
      ones({2, 10}));
}

TEST(Module, DefersTheGradientsOfItsParameters) {
  Sequential model = make_model(), alone = make_model();
  model.set_forwards_kept(2);
  model.defer_parameter_grads();
  std::string ready;
  for (const auto& [name, parameter] : model.named_parameters())
    parameter->listen("test", &ready, [&ready, name = name] { ready += name + " "; });
  for (int i = 0; i < 2; ++i) model.forward(batch(i));
  for (int i = 0; i < 2; ++i) {
    alone.forward(batch(i));
    EXPECT_TRUE(equal(model.backward(ones({2, 2})), alone.backward(ones({2, 2}))));
  }
  EXPECT_EQ(ready, "");
  for (const Tensor& grad : grads_of(model)) EXPECT_TRUE(equal(grad, zeros_like(grad)));
  model.run_parameter_grads();
  EXPECT_EQ(ready, "2.bias 2.weight 0.bias 0.weight ");
  model.run_parameter_grads();
  expect_equal(grads_of(model), grads_of(alone));
}

TEST(Checkpoint, ComputesAgainWhatItDropped) {
  Sequential model = make_model(), alone = make_model();
  checkpoint(model);
  model.set_forwards_kept(2);
  for (int i = 0; i < 2; ++i) model.forward(batch(i));
  EXPECT_DIST_ERROR(model[2].backward(ones({2, 2})), Errc::invalid_argument, "without a forward()");
  for (int i = 0; i < 2; ++i) {
    alone.forward(batch(i));
    EXPECT_TRUE(equal(model.backward(ones({2, 2})), alone.backward(ones({2, 2}))));
  }
  expect_equal(grads_of(model), grads_of(alone));
  EXPECT_DIST_ERROR(model.backward(ones({2, 2})), Errc::invalid_argument, "without a forward()");
}

}  // namespace
}  // namespace dist::nn
