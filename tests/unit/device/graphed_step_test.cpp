// GraphedStep on the fake device: the bits of the same steps without a graph, and what a step costs the host.
#include "dist/nn/graphed_step.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dist/nn/adam.h"
#include "dist/nn/clip_grad_norm.h"
#include "dist/nn/conv_net.h"
#include "dist/nn/gpt.h"
#include "dist/nn/random.h"
#include "dist/nn/sgd.h"

#include "support/expect_error.h"
#include "support/fake_layers.h"
#include "unit/nn/gradient_check.h"

namespace dist::nn {
namespace {

using test::FakeLayersGuard;

const Device gpu = cuda(0);
constexpr std::int64_t batch = 2, classes = 10;

// A model and an optimizer on the fake device, and a step of them.
class Trained {
 public:
  explicit Trained(bool is_gpt) : is_gpt_(is_gpt) {
    manual_seed(1);
    if (is_gpt) {
      GptOptions options;
      options.vocab_size = classes, options.context = 4, options.layers = 1, options.heads = 2,
      options.width = 8, options.dropout = 0.25;
      model = std::make_unique<GPT>(options);
    } else {
      model = std::make_unique<ConvNet>();
      model->skip_input_grad();
    }
    model->to(gpu);
    if (is_gpt)
      optimizer = std::make_unique<AdamW>(model->parameters());
    else
      optimizer = std::make_unique<SGD>(model->parameters(), SGDOptions{.momentum = 0.9});
  }

  Loss step(const Tensor& inputs, const Tensor& targets) {
    Loss value = loss_.forward(model->forward(inputs), targets);
    optimizer->zero_grad();
    model->backward(loss_.backward());
    if (is_gpt_) clip_grad_norm(model->parameters(), 1);
    optimizer->step();
    return value;
  }
  GraphedStep::Step as_step() {
    return [this](const Tensor& inputs, const Tensor& targets) { return step(inputs, targets); };
  }
  // Another batch and another learning rate in each step.
  void prepare(int i) {
    optimizer->set_lr(0.05 / (1 + i));
    model->set_position({.seed = 7, .step = static_cast<std::uint64_t>(i)});
  }
  Tensor inputs(int i, std::int64_t rows = batch) const {
    if (!is_gpt_) return scattered({rows, 1, 28, 28}, i, DType::f32);
    return targets(i + 1, rows);
  }
  Tensor targets(int i, std::int64_t rows = batch) const {
    Tensor all = is_gpt_ ? empty({rows, 4}, DType::i64) : empty({rows}, DType::i64);
    std::int64_t next = i;
    for (std::int64_t& target : all.data<std::int64_t>()) target = next++ * 7 % classes;
    return all;
  }
  std::vector<Tensor> state() {
    std::vector<Tensor> all;
    for (const auto& [name, tensor] : model->state_dict()) all.push_back(tensor.to(cpu));
    for (const auto& [name, tensor] : optimizer->state_dict()) all.push_back(tensor.to(cpu));
    return all;
  }

  std::unique_ptr<Module> model;
  std::unique_ptr<Optimizer> optimizer;

 private:
  const bool is_gpt_;
  CrossEntropyLoss loss_;
};

void expect_same_bits(Trained& got, Trained& expected) {
  const auto a = got.state(), b = expected.state();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(equal(a[i], b[i])) << "tensor " << i;
}

class GraphedStepOf : public testing::TestWithParam<bool> {};

TEST_P(GraphedStepOf, HasTheBitsOfStepsWithoutAGraph) {
  for (const bool caches : {false, true}) {
    const FakeLayersGuard fake({.longest_rest = std::chrono::microseconds(50), .caches = caches});
    Trained plain(GetParam()), graphed(GetParam());
    GraphedStep step(gpu, graphed.as_step());
    for (int i = 0; i < 8; ++i) {
      // The last, smaller batch of an epoch does without the graph, as does one from the device with it.
      const std::int64_t rows = i == 5 ? 1 : batch;
      const Tensor inputs = plain.inputs(i, rows), targets = plain.targets(i, rows);
      plain.prepare(i);
      graphed.prepare(i);
      const double expected = plain.step(inputs.to(gpu), targets.to(gpu));
      const Loss got = i == 6 ? step(inputs.to(gpu), targets.to(gpu)) : step(inputs, targets);
      EXPECT_EQ(got.item(), expected) << "step " << i;
      EXPECT_EQ(got.count(), static_cast<double>(targets.numel()));
      EXPECT_EQ(step.is_recorded(), i >= 3) << "step " << i;
    }
    EXPECT_EQ(step.graphs(), 1U) << "the optimizer comes last";
    expect_same_bits(graphed, plain);
  }
}

// Losses are read later, when the steps after them have been enqueued.
TEST_P(GraphedStepOf, LossesOutliveTheNextSteps) {
  const FakeLayersGuard fake({.longest_rest = std::chrono::microseconds(50)});
  Trained plain(GetParam()), graphed(GetParam());
  GraphedStep step(gpu, graphed.as_step());
  std::vector<double> expected;
  std::vector<Loss> got;
  for (int i = 0; i < 7; ++i) {
    plain.prepare(i);
    graphed.prepare(i);
    expected.push_back(plain.step(plain.inputs(i).to(gpu), plain.targets(i).to(gpu)));
    got.push_back(step(graphed.inputs(i), graphed.targets(i)));
  }
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].item(), expected[i]) << "step " << i;
}

struct Costs {
  std::size_t kernels, copies, graphs, waits;
};

// The figures of tests/gpu/RESULTS.md.
TEST_P(GraphedStepOf, CostsOneLaunchAndNoWaitOfTheHost) {
  const FakeLayersGuard fake;
  Trained trained(GetParam());
  GraphedStep step(gpu, trained.as_step());
  const auto take = [&](int i, auto& how) {
    trained.prepare(i);
    const Tensor inputs = trained.inputs(i), targets = trained.targets(i);
    const std::size_t launches = fake->launches(), copies = fake->copies(), graphs = fake->graph_launches(),
                      waits = fake->host_waits();
    how(inputs, targets);
    const Costs costs{
        fake->launches() - launches - (fake->copies() - copies) - (fake->graph_launches() - graphs),
        fake->copies() - copies, fake->graph_launches() - graphs, fake->host_waits() - waits};
    fake->synchronize(gpu, nullptr);
    return costs;
  };
  const auto without = [&](const Tensor& inputs, const Tensor& targets) {
    trained.step(inputs.to(gpu), targets);
  };
  const Costs plain = take(0, without);
  for (int i = 1; i <= 4; ++i) take(i, step);
  ASSERT_TRUE(step.is_recorded());
  const Costs graphed = take(5, step);
  for (const auto& [name, costs] : {std::pair{"without", plain}, {"with", graphed}})
    std::printf("a step of %s %s a graph: %zu kernels, %zu copies, %zu graphs, %zu waits of the host\n",
                GetParam() ? "GPT" : "the ConvNet", name, costs.kernels, costs.copies, costs.graphs,
                costs.waits);
  EXPECT_GE(plain.kernels, 25U);
  EXPECT_GE(plain.waits, 4U) << "of plain copies from the host";
  EXPECT_EQ(graphed.graphs, 1U);
  EXPECT_EQ(graphed.kernels, GetParam() ? 2U : 1U)
      << "the optimizer's, and the number of the step for Dropout";
  EXPECT_EQ(graphed.copies, 5U) << "the batch, and the loss: losses, their number, targets";
  EXPECT_EQ(graphed.waits, 0U);
}

INSTANTIATE_TEST_SUITE_P(, GraphedStepOf, testing::Bool(),
                         [](const auto& of) { return of.param ? "Gpt" : "ConvNet"; });

TEST(GraphedStep, RefusesAStepThatReadsItsLoss) {
  const FakeLayersGuard fake;
  Trained trained(false);
  double seen = 0;
  GraphedStep step(gpu, [&](const Tensor& inputs, const Tensor& targets) {
    const Loss loss = trained.step(inputs, targets);
    seen = loss;
    return loss;
  });
  for (int i = 0; i < 3; ++i) step(trained.inputs(i), trained.targets(i));
  EXPECT_GT(seen, 0) << "without a graph it may";
  test::expect_error(
      Errc::unsupported,
      {"a copy between host and device", "while a step is recorded as a graph", "Move it out of the step"},
      [&] { step(trained.inputs(3), trained.targets(3)); });
}

TEST(GraphedStep, CanRefuseOtherShapes) {
  const FakeLayersGuard fake;
  Trained trained(false);
  GraphedStep step(gpu, trained.as_step(), {.warm_up = 1, .only_one_shape = true});
  step(trained.inputs(0), trained.targets(0));
  EXPECT_DIST_ERROR(step(trained.inputs(1, 1), trained.targets(1, 1)), Errc::invalid_argument,
                    "this batch has shape [1, 1, 28, 28], but the graph is for [2, 1, 28, 28]");
  EXPECT_DIST_ERROR(GraphedStep(gpu, trained.as_step(), {.warm_up = 0}), Errc::invalid_argument,
                    "warm_up = 0");
}

TEST(GraphedStep, RefusesAnotherSeed) {
  const FakeLayersGuard fake;
  Trained trained(true);
  GraphedStep step(gpu, trained.as_step(), {.warm_up = 1});
  for (int i = 0; i < 3; ++i) step(trained.inputs(i), trained.targets(i));
  trained.model->set_position({.seed = 8});
  EXPECT_DIST_ERROR(step(trained.inputs(3), trained.targets(3)), Errc::invalid_argument,
                    "only its step may change");
}

TEST(GraphedStep, OnACpuCallsTheStep) {
  int calls = 0;
  GraphedStep step(cpu, [&](const Tensor&, const Tensor& targets) {
    ++calls;
    return CrossEntropyLoss().forward(zeros({2, 3}), targets);
  });
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(step(zeros({2, 3}), zeros({2}, DType::i64)), std::log(3.0), 1e-12) << i;
  EXPECT_EQ(calls, 5);
  EXPECT_FALSE(step.is_recorded());
}

// The targets stay on the device, and what is wrong with them is said when the loss is read.
TEST(LossOnADevice, NamesATargetThatIsNoClassWhenItIsRead) {
  const FakeLayersGuard fake;
  const Tensor logits = scattered({3, 4}, 1, DType::f32), targets = arange(3, DType::i64);
  Tensor wrong = arange(3, DType::i64), ignored = full({3}, -100, DType::i64);
  wrong.data<std::int64_t>()[1] = 4;
  ignored.data<std::int64_t>()[2] = 1;
  CrossEntropyLoss on_cpu, on_gpu;
  for (const Tensor& right : {targets, ignored}) {
    const Tensor here = logits.to(gpu), there = right.to(gpu);
    const std::size_t waits = fake->host_waits();
    const Loss loss = on_gpu.forward(here, there);
    EXPECT_EQ(fake->host_waits(), waits) << "the host reads nothing";
    const Loss expected = on_cpu.forward(logits, right);
    EXPECT_NEAR(loss.item(), expected.item(), 1e-6);
    EXPECT_EQ(loss.count(), expected.count());
    const Tensor got = on_gpu.backward().to(cpu), gradient = on_cpu.backward();
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_NEAR(std::as_const(got).data<float>()[i], std::as_const(gradient).data<float>()[i], 1e-6) << i;
  }
  const Loss loss = on_gpu.forward(logits.to(gpu), wrong.to(gpu));
  EXPECT_DIST_ERROR(loss.item(), Errc::invalid_argument, "target 4 of row 1 is not a class; there are 4");
  EXPECT_DIST_ERROR(loss.clone().item(), Errc::invalid_argument, "target 4 of row 1 is not a class");
}

// As many launches as gradients before.
TEST(GradientsOnADevice, AreClearedByOneKernel) {
  const FakeLayersGuard fake;
  Trained trained(true);
  for (Parameter* const parameter : trained.model->parameters()) parameter->grad.fill_(3);
  const std::size_t before = fake->launches();
  trained.optimizer->zero_grad();
  EXPECT_EQ(fake->launches(), before + 1);
  for (Parameter* const parameter : trained.model->parameters())
    EXPECT_TRUE(equal(parameter->grad.to(cpu), zeros(parameter->grad.shape())));
}

}  // namespace
}  // namespace dist::nn
