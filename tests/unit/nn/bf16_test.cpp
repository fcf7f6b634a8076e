// Training in bf16: every layer against f32, each result rounded once; a GPT; master weights; any number of
// threads.
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dist/nn/flatten.h"
#include "dist/nn/nn.h"
#include "dist/nn/parts.h"
#include "dist/nn/plain_ops.h"

#include "support/expect_error.h"
#include "unit/nn/row_cases.h"

namespace dist::nn {
namespace {

constexpr double rounding = 1.0 / 512;  // of a number to the nearest one in bf16, relative to it

double norm_relative(const Tensor& got, const Tensor& expected) {
  const Tensor size = expected.to(DType::f64), error = got.to(DType::f64) - size;
  return std::sqrt(dot(error, error) / dot(size, size));
}

// Numbers that bf16 has.
Tensor exact(const Shape& shape, double seed) {
  return scattered(shape, seed, DType::f32).to(DType::bf16).to(DType::f32);
}

// Output, gradient of the input, and gradients of the parameters.
std::vector<Tensor> pass(Module& module, DType dtype, const Tensor& input) {
  double seed = 1;
  for (Parameter* const p : module.parameters()) p->value.copy_(exact(p->value.shape(), seed += 100));
  module.to(dtype);
  module.zero_grad();
  const Tensor output = module.forward(input.dtype() == DType::i64 ? input : input.to(dtype));
  std::vector<Tensor> results{output};
  const Tensor of_input = module.backward(exact(output.shape(), 7).to(dtype));
  if (of_input.is_defined()) results.push_back(of_input);
  for (Parameter* const p : module.parameters()) results.push_back(p->grad);
  return results;
}

template <class Make>
void expect_rounded(const Make& make, const Tensor& input, double bound) {
  const auto in_f32 = make(), in_bf16 = make();
  const auto expected = pass(*in_f32, DType::f32, input), got = pass(*in_bf16, DType::bf16, input);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].dtype(), DType::bf16);
    EXPECT_LE(norm_relative(got[i], expected[i]), bound) << in_bf16->str() << ", result " << i;
  }
}

TEST(Bf16, LayersRoundEachResultOnce) {
  const Tensor rows = exact({6, 33}, 1), images = exact({3, 2, 9, 8}, 2);
  const auto check = [](const Tensor& input, auto make) { expect_rounded(make, input, rounding); };
  check(rows, [] { return std::make_unique<Linear>(33, 7, LinearOptions{.bias = false}); });
  check(rows, [] { return std::make_unique<Linear>(33, 7); });
  check(rows, [] { return std::make_unique<LayerNorm>(33); });
  check(rows, [] { return std::make_unique<RMSNorm>(33); });
  check(rows, [] { return std::make_unique<GELU>(); });
  check(rows, [] { return std::make_unique<GELU>(GeluOptions{.tanh = true}); });
  check(rows, [] { return std::make_unique<SiLU>(); });
  check(rows, [] { return std::make_unique<ReLU>(); });
  check(rows, [] { return std::make_unique<Dropout>(0.3); });
  check(images, [] { return std::make_unique<Conv2d>(2, 3, 3); });
  check(images, [] { return std::make_unique<MaxPool2d>(3, MaxPool2dOptions{.stride = 1}); });
  check(images, [] { return std::make_unique<BatchNorm2d>(2); });
  check(images, [] { return std::make_unique<Flatten>(); });
  Tensor tokens = row_cases::indices(40, 0, 5, cpu);
  check(tokens.view({4, 10}), [] { return std::make_unique<Embedding>(5, 8); });
}

// The plain loops compute bf16 as f32: the bits are those of f32's results, rounded. In attention, backward
// reads the rounded output of forward.
TEST(Bf16, RowsAreThoseOfF32Rounded) {
  for (const RowCase& one : all_row_cases()) {
    SCOPED_TRACE(one.name);
    const auto expected = one.run(PlainOps(), {cpu, DType::f32, true}),
               got = one.run(PlainOps(), {cpu, DType::bf16, true});
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (one.name.starts_with("attention") && i > 1)
        EXPECT_LE(norm_relative(got[i], expected[i]), 8 * rounding) << "result " << i;
      else
        EXPECT_TRUE(equal(got[i], expected[i].to(got[i].dtype()))) << "result " << i;
    }
  }
}

TEST(Bf16, AMatrixProductThatIsAddedIsRoundedOnce) {
  const Tensor a = exact({5, 70}, 1), b = exact({9, 70}, 2);
  Tensor in_f32 = exact({5, 9}, 3), in_bf16 = in_f32.to(DType::bf16);
  for (const bool adds : {true, false}) {
    ops_for(cpu).matmul(in_f32, {a}, {b, true}, adds);
    ops_for(cpu).matmul(in_bf16, {a.to(DType::bf16)}, {b.to(DType::bf16), true}, adds);
    EXPECT_LE(norm_relative(in_bf16, in_f32), rounding);
    in_f32 = in_bf16.to(DType::f32);
  }
}

GptOptions small_gpt() {
  GptOptions options;
  options.vocab_size = 11, options.context = 12, options.layers = 2, options.heads = 2, options.width = 32;
  return options;
}

struct Pass {
  double loss;
  std::vector<Tensor> grads;
};

Pass gradients_of(GPT& gpt) {
  CrossEntropyLoss criterion;
  gpt.zero_grad();
  const Tensor inputs = row_cases::indices(48, 0, 11, cpu).view({4, 12}),
               targets = row_cases::indices(48, 0, 11, cpu).view({4, 12});
  Pass run{criterion.forward(gpt.forward(inputs), targets), {}};
  gpt.backward(criterion.backward());
  for (Parameter* const p : gpt.parameters()) run.grads.push_back(p->grad.clone());
  return run;
}

// About twenty roundings one after the other, whose errors are independent. The gradient of the key bias is
// rounding errors alone, so the bound for the bias of c_attn is looser.
TEST(Bf16, AGptHasF32sLossAndGradientsWithinItsRounding) {
  for (const bool llama : {false, true}) {
    GptOptions options = small_gpt();
    options.rms_norm = options.gated = options.rotary = llama;
    manual_seed(1);
    GPT rounded(options), gpt(options);
    rounded.to(DType::bf16);
    gpt.load_state_dict([&] {
      StateDict dict;
      for (const auto& [name, tensor] : rounded.state_dict()) dict.push_back({name, tensor.to(DType::f32)});
      return dict;
    }());
    const Pass expected = gradients_of(gpt), got = gradients_of(rounded);
    EXPECT_NEAR(got.loss, expected.loss, 4 * rounding * expected.loss);
    const auto names = gpt.named_parameters();
    for (std::size_t i = 0; i < names.size(); ++i)
      EXPECT_LE(norm_relative(got.grads[i], expected.grads[i]), 12 * rounding) << names[i].name;
  }
}

// An update of 1e-3 is less than half the distance from 1 to its neighbour.
template <class O>
double after_small_steps(bool master_weights, auto options) {
  Parameter x;
  x.initialize(ones({3}, DType::bf16));
  options.lr = 1e-3, options.master_weights = master_weights;
  O optimizer({&x}, options);
  for (int i = 0; i < 50; ++i) {
    x.grad.fill_(1);
    optimizer.step();
  }
  return x.value.to_vector<double>()[2];
}

TEST(Bf16, MasterWeightsKeepUpdatesThatRoundingLoses) {
  EXPECT_EQ(after_small_steps<SGD>(false, SGDOptions{}), 1);
  EXPECT_NEAR(after_small_steps<SGD>(true, SGDOptions{}), 0.95, rounding);
  EXPECT_EQ(after_small_steps<AdamW>(false, AdamWOptions{}), 1);
  EXPECT_NEAR(after_small_steps<AdamW>(true, AdamWOptions{.weight_decay = 0}), 0.95, rounding);
  EXPECT_NEAR(after_small_steps<SGD>(true, SGDOptions{.momentum = 0.5}), 0.9, 0.01);
}

// The same steps as in f32, apart from the rounding of the gradients.
TEST(Bf16, AGptLearnsWithMasterWeightsAsInF32) {
  const auto loss_after = [](DType dtype, bool master_weights) {
    manual_seed(2);
    GPT gpt(small_gpt());
    gpt.to(dtype);
    AdamW optimizer(gpt.parameters(), {.lr = 2e-5, .weight_decay = 0, .master_weights = master_weights});
    for (int i = 0; i < 100; ++i) {
      (void)gradients_of(gpt);
      optimizer.step();
    }
    return gradients_of(gpt).loss;
  };
  manual_seed(2);
  GPT untrained(small_gpt());
  const double before = gradients_of(untrained).loss, in_f32 = before - loss_after(DType::f32, true),
               with = before - loss_after(DType::bf16, true),
               without = before - loss_after(DType::bf16, false);
  EXPECT_NEAR(with, in_f32, 0.1 * in_f32);
  EXPECT_LT(without, 0.7 * in_f32);
}

TEST(Bf16, MasterWeightsAreInTheState) {
  const auto initial = [](Parameter& p) { p.initialize(exact({4}, 1).to(DType::bf16)); };
  const auto steps = [](Optimizer& optimizer, Parameter& p, int count) {
    for (int i = 0; i < count; ++i) {
      p.grad.copy_(p.value);
      optimizer.step();
    }
  };
  Parameter whole, half, rest;
  initial(whole), initial(half);
  AdamW all({&whole}), first({&half});
  steps(all, whole, 6);
  steps(first, half, 3);
  const Tensor* const master = find(first.state_dict(), "0.master_param");
  ASSERT_NE(master, nullptr);
  EXPECT_EQ(master->dtype(), DType::f32);
  EXPECT_TRUE(equal(master->to(DType::bf16), half.value));
  EXPECT_FALSE(equal(*master, half.value.to(DType::f32)));
  EXPECT_EQ(find(first.state_dict(), "0.exp_avg")->dtype(), DType::f32);
  rest.initialize(half.value.clone());
  AdamW second({&rest});
  second.load_state_dict(first.state_dict());
  steps(second, rest, 3);
  EXPECT_TRUE(equal(rest.value, whole.value));
  EXPECT_TRUE(equal(*find(second.state_dict(), "0.master_param"), *find(all.state_dict(), "0.master_param")));
  AdamW pure({&rest}, {.master_weights = false});
  EXPECT_DIST_ERROR(pure.load_state_dict(first.state_dict()), Errc::invalid_argument,
                    "AdamW has no \"0.master_param\", which the state to load has");
}

// An optimizer of f32 parameters, of which one becomes bf16.
TEST(Bf16, AModelThatIsConvertedNeedsANewOptimizer) {
  Linear layer(2, 3);
  SGD sgd(layer.parameters(), {.momentum = 0.5});
  sgd.step();
  layer.to(DType::bf16);
  EXPECT_DIST_ERROR(
      sgd.step(), Errc::invalid_argument,
      "SGD: its \"0.momentum_buffer\" is [3, 2] f32 on cpu, \"weight\" is [3, 2] bf16 on cpu by now: "
      "make a new optimizer");
  EXPECT_EQ(clip_grad_norm(layer.parameters(), 1), 0);
}

TEST(Threads, LoopsAndAttentionGiveTheSameBitsForAnyNumber) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    for (const RowCase& one : all_row_cases()) {
      SCOPED_TRACE(one.name);
      const auto alone = one.run(ops_for(cpu), {cpu, dtype});
      for (const int threads : {2, 3}) {
        set_num_threads(threads);
        const auto together = one.run(ops_for(cpu), {cpu, dtype});
        set_num_threads(1);
        for (std::size_t i = 0; i < alone.size(); ++i)
          EXPECT_TRUE(equal(together[i], alone[i])) << threads << " threads, result " << i;
      }
    }
  }
}

TEST(Threads, AnErrorInAPartReachesTheCaller) {
  set_num_threads(2);
  std::vector<int> seen(4);
  EXPECT_DIST_ERROR(in_parts(4, 1,
                             [&](std::int64_t begin, std::int64_t end) {
                               for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
                               EXPECT_EQ(num_threads(), 1);
                               if (end == 4) fail(Errc::internal, "the last part fails");
                             }),
                    Errc::internal, "the last part fails");
  EXPECT_EQ(num_threads(), 2);
  set_num_threads(1);
  EXPECT_EQ(seen, (std::vector<int>{1, 1, 1, 1}));
}

TEST(MatmulPrecision, IsOneOfThreeWords) {
  EXPECT_EQ(matmul_precision(), "highest");
  const Tensor a = exact({3, 4}, 1), b = exact({4, 5}, 2) * 1.001;
  Tensor highest = empty({3, 5}), medium = empty({3, 5});
  ops_for(cpu).matmul(highest, {a}, {b}, false);
  for (const char* precision : {"high", "medium"}) {
    set_matmul_precision(precision);
    EXPECT_EQ(matmul_precision(), precision);
    ops_for(cpu).matmul(medium, {a}, {b}, false);
    EXPECT_TRUE(equal(medium, highest)) << "on a CPU it changes nothing";
  }
  set_matmul_precision("highest");
  EXPECT_DIST_ERROR(set_matmul_precision("exact"), Errc::invalid_argument,
                    "set_matmul_precision(\"exact\"): choose highest, high or medium");
}

}  // namespace
}  // namespace dist::nn
