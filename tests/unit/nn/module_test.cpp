#include "dist/nn/module.h"

#include <gtest/gtest.h>

#include "dist/nn/cross_entropy.h"
#include "dist/nn/linear.h"
#include "dist/nn/random.h"
#include "dist/nn/relu.h"
#include "dist/nn/sequential.h"
#include "dist/nn/sgd.h"

#include "support/expect_error.h"

namespace dist::nn {
namespace {

std::vector<std::string> names_of(Module& module) {
  std::vector<std::string> names;
  for (const auto& named : module.named_parameters()) names.push_back(named.name);
  return names;
}

// A module with a parameter of its own and a child.
class Scaled : public Module {
 public:
  Scaled() : inner_(3, 2) {
    register_module("inner", inner_);
    factor_.initialize(full({1}, 2));
    register_parameter("factor", factor_);
    steps_.value = zeros({}, DType::i64);
    register_buffer("steps", steps_);
  }
  Tensor run_forward(const Tensor& input) override {
    return inner_.forward(input) * factor_.value.item<double>();
  }
  Tensor run_backward(const Tensor& grad_output) override {
    return inner_.backward(grad_output * factor_.value.item<double>());
  }
  using Module::register_parameter;
  Parameter factor_;

 private:
  Buffer steps_;
  Linear inner_;
};

TEST(Module, NamesParametersInTorchsOrder) {
  Sequential model;
  model.add<Scaled>();
  model.add<ReLU>();
  model.add<Linear>(2, 5);
  EXPECT_EQ(names_of(model),
            (std::vector<std::string>{"0.factor", "0.inner.weight", "0.inner.bias", "2.weight", "2.bias"}));
  ASSERT_EQ(model.named_buffers().size(), 1U);
  EXPECT_EQ(model.named_buffers()[0].name, "0.steps");
  EXPECT_EQ(model.parameters().size(), 5U);
  EXPECT_EQ(model.str(), "Sequential(Module, ReLU(), Linear(2, 5))");
}

TEST(Module, OneThatIsRegisteredTwiceCountsOnce) {
  class Twice final : public Module {
   public:
    explicit Twice(Module& shared) {
      register_module("first", shared);
      register_module("second", shared);
    }

   private:
    Tensor run_forward(const Tensor& input) override { return input; }
    Tensor run_backward(const Tensor& grad) override { return grad; }
  };
  Scaled shared;
  Twice model(shared);
  EXPECT_EQ(names_of(model),
            (std::vector<std::string>{"first.factor", "first.inner.weight", "first.inner.bias"}));
  EXPECT_EQ(model.named_buffers().size(), 1U);
  EXPECT_EQ(model.modules().size(), 3U);
  EXPECT_EQ(model.state_dict().size(), 8U) << "under both names, as in torch";
  model.load_state_dict(model.state_dict());
  for (Parameter* const parameter : model.parameters()) parameter->grad.fill_(1);
  Parameter& factor = *model.parameters()[0];
  SGD(model.parameters(), {.lr = 1}).step();
  EXPECT_EQ(factor.value.item<double>(), 1) << "one step";
}

TEST(Module, RefusesNamesTwiceAndWithDots) {
  Scaled model;
  Parameter other;
  EXPECT_DIST_ERROR(model.register_parameter("factor", other), Errc::invalid_argument, "\"factor\" before");
  EXPECT_DIST_ERROR(model.register_parameter("inner", other), Errc::invalid_argument, "names are unique");
  EXPECT_DIST_ERROR(model.register_parameter("a.b", other), Errc::invalid_argument, "\"a.b\" is not a name");
  EXPECT_DIST_ERROR(model.register_parameter("", other), Errc::invalid_argument, "is not a name");
}

TEST(Module, TrainingAndEvaluationReachAllBelow) {
  Sequential model;
  auto& inner = model.add<Sequential>();
  auto& layer = inner.add<ReLU>();
  EXPECT_TRUE(layer.is_training());
  model.eval();
  EXPECT_FALSE(layer.is_training());
  model.train();
  EXPECT_TRUE(layer.is_training());
}

TEST(Module, GradientsAreReadyInReverseOrderAndAddUp) {
  Sequential model;
  model.add<Linear>(3, 4);
  model.add<ReLU>();
  model.add<Linear>(4, 2);
  std::vector<std::string> ready;
  for (const auto& [name, parameter] : model.named_parameters())
    parameter->listen("test", &ready, [&ready, name = name] { ready.push_back(name); });
  const Tensor input = ones({5, 3}), grad = ones({5, 2});
  model.forward(input);
  model.backward(grad);
  EXPECT_EQ(ready, (std::vector<std::string>{"2.bias", "2.weight", "0.bias", "0.weight"}));
  const Tensor once = model.parameters()[3]->grad.clone();
  EXPECT_EQ(once.to_vector<int>(), (std::vector<int>{5, 5}));
  model.forward(input);
  model.backward(grad);
  EXPECT_TRUE(equal(model.parameters()[3]->grad, once * 2));
  model.zero_grad();
  EXPECT_TRUE(equal(model.parameters()[3]->grad, once * 0));
}

TEST(Module, BackwardNeedsAForwardEachTime) {
  Sequential model;
  model.add<Linear>(3, 4);
  EXPECT_DIST_ERROR(model.backward(ones({1, 4})), Errc::invalid_argument,
                    "Linear(3, 4): backward() without a forward() before it");
  model.forward(ones({1, 3}));
  model.backward(ones({1, 4}));
  EXPECT_DIST_ERROR(model.backward(ones({1, 4})), Errc::invalid_argument, "without a forward()");
  ReLU relu;
  EXPECT_DIST_ERROR(relu.backward(ones({1})), Errc::invalid_argument, "ReLU(): backward() without");
  CrossEntropyLoss loss;
  EXPECT_DIST_ERROR(loss.backward(), Errc::invalid_argument, "CrossEntropyLoss: backward() without");
}

TEST(Module, ConvertsItselfToAnotherDtype) {
  Scaled model;
  model.to(DType::f64);
  EXPECT_EQ(model.factor_.value.dtype(), DType::f64);
  EXPECT_EQ(model.factor_.grad.dtype(), DType::f64);
  EXPECT_EQ(model.named_buffers()[0].buffer->value.dtype(), DType::i64);
  EXPECT_EQ(model.forward(ones({1, 3}, DType::f64)).dtype(), DType::f64);
}

// As `torch.manual_seed(0); torch.nn.Linear(2, 2)` prints them.
TEST(Random, InitialWeightsAreThoseOfPyTorch) {
  manual_seed(0);
  Linear layer(2, 2);
  const auto weight = layer.parameters()[0]->value.to_vector<double>();
  const auto bias = layer.parameters()[1]->value.to_vector<double>();
  const std::vector<double> expected{-0.0053, 0.3793, -0.5820, -0.5204, -0.2723, 0.1896};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(weight[i], expected[i], 5e-5);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(bias[i], expected[4 + i], 5e-5);
}

}  // namespace
}  // namespace dist::nn
