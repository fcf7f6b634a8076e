// Parameters that are not trained: what is computed, what is kept, and what optimizers do.
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "dist/core/memory/arena.h"
#include "dist/nn/nn.h"

#include "gradient_check.h"
#include "support/expect_error.h"

namespace dist::nn {
namespace {

using Make = std::function<std::unique_ptr<Module>()>;

struct Gradients {
  Tensor input;
  std::vector<Tensor> parameters;  // undefined where there is none
  std::string ready;
};

// One forward and backward, after freezing the parameters for which `is_frozen`.
Gradients gradients_of(Module& model, const Tensor& input,
                       const std::function<bool(const std::string&)>& is_frozen) {
  Gradients g;
  for (const auto& [name, parameter] : model.named_parameters()) {
    parameter->requires_grad(!is_frozen(name));
    parameter->listen("test", &g, [&g, name = name] { g.ready += name + ' '; });
  }
  const Tensor weights = scattered(model.forward(input).shape(), 0.5, model.parameters()[0]->value.dtype());
  model.zero_grad();
  (void)model.forward(input);
  g.input = model.backward(weights);
  for (const Parameter* const parameter : model.parameters()) g.parameters.push_back(parameter->grad);
  return g;
}

// A frozen parameter has no gradient and is never ready; all others have the same one, bit for bit
// (`is_close`: but for rounding, because oneDNN sums the bias's in another order along with the weight's).
void expect_only(const Make& make, const Tensor& input,
                 const std::function<bool(const std::string&)>& is_frozen, const std::string& what,
                 bool is_close = false) {
  SCOPED_TRACE(what);
  const auto whole = make(), part = make();
  const Gradients expected = gradients_of(*whole, input, [](const auto&) { return false; });
  const Gradients got = gradients_of(*part, input, is_frozen);
  if (expected.input.is_defined() && got.input.is_defined()) {
    EXPECT_TRUE(equal(got.input, expected.input));
  }
  const auto named = part->named_parameters();
  for (std::size_t i = 0; i < named.size(); ++i) {
    const bool is_ready = (" " + got.ready).find(" " + named[i].name + " ") != std::string::npos;
    EXPECT_EQ(is_ready, !is_frozen(named[i].name)) << named[i].name;
    ASSERT_EQ(got.parameters[i].is_defined(), !is_frozen(named[i].name)) << named[i].name;
    if (!got.parameters[i].is_defined()) continue;
    const Tensor apart = got.parameters[i] - expected.parameters[i];
    EXPECT_LE(dot(apart, apart), is_close ? 1e-12 * dot(got.parameters[i], got.parameters[i]) : 0)
        << named[i].name;
  }
}

TEST(Frozen, LayersComputeTheGradientsOfWhatIsTrained) {
  const Tensor rows = scattered({6, 8}, 1, DType::f32), images = scattered({2, 2, 6, 6}, 2, DType::f32);
  const std::vector<std::pair<Make, Tensor>> layers{
      {[] { return std::make_unique<Linear>(8, 5); }, rows},
      {[] { return std::make_unique<Embedding>(7, 3); }, arange(6, DType::i64)},
      {[] { return std::make_unique<LayerNorm>(8); }, rows},
      {[] { return std::make_unique<RMSNorm>(8); }, rows},
      {[] { return std::make_unique<Conv2d>(2, 3, 3); }, images},
      {[] { return std::make_unique<BatchNorm2d>(2); }, images}};
  for (const auto& [make, input] : layers) {
    const Make seeded = [make = make] {
      manual_seed(1);
      return make();
    };
    for (const std::string frozen : {"weight", "bias", ""})
      expect_only(
          seeded, input, [&](const std::string& name) { return frozen.empty() || name == frozen; },
          seeded()->str() + " without " + frozen, dynamic_cast<Conv2d*>(seeded().get()));
    const auto layer = seeded();
    layer->skip_input_grad();
    EXPECT_FALSE(
        gradients_of(*layer, input, [](const auto& name) { return name == "bias"; }).input.is_defined());
  }
}

GptOptions small(bool gated = false) {
  return {.vocab_size = 11,
          .context = 6,
          .layers = 2,
          .heads = 2,
          .width = 8,
          .tied = !gated,
          .rms_norm = gated,
          .gated = gated,
          .rotary = gated};
}

Tensor tokens() { return arange(10, DType::i64).view({2, 5}); }

// Each parameter alone, each frozen alone, everything before one, and biases only; with recomputation, too.
TEST(Frozen, PartsOfAGpt) {
  for (const bool gated : {false, true})
    for (const bool recompute : {false, true}) {
      const Make make = [&]() -> std::unique_ptr<Module> {
        manual_seed(3);
        auto gpt = std::make_unique<GPT>(small(gated));
        gpt->to(DType::f64);
        for (Block* const block : gpt->blocks())
          if (recompute) checkpoint(*block);
        return gpt;
      };
      std::vector<std::string> names;
      for (const auto& named : make()->named_parameters()) names.push_back(named.name);
      const auto number = [&](const std::string& name) {
        return std::ranges::find(names, name) - names.begin();
      };
      for (const std::string& one : names) {
        if (recompute && number(one) % 5 != 0) continue;
        expect_only(
            make, tokens(), [&](const std::string& name) { return name != one; }, one + " alone");
        expect_only(
            make, tokens(), [&](const std::string& name) { return name == one; }, "all but " + one);
        expect_only(
            make, tokens(), [&](const std::string& name) { return number(name) < number(one); },
            "from " + one);
      }
      expect_only(
          make, tokens(), [](const std::string& name) { return !name.ends_with("bias"); }, "biases");
      expect_only(
          make, tokens(), [](const std::string&) { return true; }, "nothing");
    }
}

class Counts final : public ModuleHook {
 public:
  Tensor before_backward(Module&, const Tensor& grad_output) override {
    ++backwards;
    return grad_output;
  }
  int backwards = 0;
};

TEST(Frozen, BackwardGoesDownToTheLowestTrainedLayer) {
  Sequential model;
  std::vector<std::shared_ptr<Counts>> between;
  for (int i = 0; i < 4; ++i) {
    model.add<Linear>(4, 4);
    between.push_back(std::make_shared<Counts>());
    model.add<ReLU>().add_hook(between.back());
  }
  const auto counts = [&](bool wants_input_grad) {
    const Tensor out = model.forward(ones({2, 4}));
    EXPECT_EQ(model.backward(ones(out.shape())).is_defined(), wants_input_grad);
    std::vector<int> counted;
    for (const auto& each : between) counted.push_back(std::exchange(each->backwards, 0));
    return counted;
  };
  model.requires_grad(false);
  model[4].requires_grad(true);
  EXPECT_EQ(counts(true), (std::vector{1, 1, 1, 1})) << "the caller wants the gradient of the input";
  model.skip_input_grad();
  EXPECT_EQ(counts(false), (std::vector{0, 0, 1, 1}));
  model[4].requires_grad(false);
  EXPECT_FALSE(model.trains());
  EXPECT_EQ(counts(false), (std::vector{0, 0, 0, 0}));
  model.requires_grad(true);
  EXPECT_EQ(counts(false), (std::vector{1, 1, 1, 1}));
  (void)model[6].forward(ones({2, 4}));  // alone: its caller may want it
  EXPECT_TRUE(model[6].backward(ones({2, 4})).is_defined());
}

// It does not say what its children need: they compute more, and the gradients are the same.
class Custom final : public Module {
 public:
  Custom() {
    register_module("body", body);
    register_module("head", head);
  }
  Linear body{4, 4}, head{4, 2};

 private:
  Tensor run_forward(const Tensor& input) override { return head.forward(body.forward(input)); }
  Tensor run_backward(const Tensor& grad) override { return body.backward(head.backward(grad)); }
};

TEST(Frozen, AModuleOfYourOwnNeedsNoChange) {
  const Make make = [] {
    manual_seed(1);
    return std::make_unique<Custom>();
  };
  for (const std::string part : {"body", "head", ""})
    expect_only(
        make, scattered({3, 4}, 1, DType::f32),
        [&](const std::string& name) { return name.starts_with(part); }, part);
}

TEST(Frozen, ATiedWeightIsFrozenForBoth) {
  GPT gpt(small());
  gpt.requires_grad(false);
  EXPECT_FALSE(gpt.trains());
  for (Module* const module : gpt.modules())
    if (module->str() == "Linear(8, 11)") module->requires_grad(true);
  EXPECT_TRUE(gpt.parameters()[0]->requires_grad());
  EXPECT_EQ(gpt.parameters()[0]->name, "transformer.wte.weight");
}

TEST(Frozen, OnlyBetweenTwoSteps) {
  Linear linear(2, 2);
  linear.weight().requires_grad(false);
  (void)linear.forward(ones({1, 2}));
  linear.weight().requires_grad(true);
  EXPECT_DIST_ERROR(linear.backward(ones({1, 2})), Errc::invalid_argument,
                    "Linear(2, 2): its weight was not trained in forward(), which has kept no input");
}

// What forward() leaves allocated besides its result.
std::size_t kept_by(Module& model, const Tensor& input) {
  (void)model.forward(input), model.forget_forward();  // what is made once
  const std::size_t before = Arena::local().in_use();
  const Tensor out = model.forward(input);
  const std::size_t after = Arena::local().in_use();
  return after - before - out.nbytes();
}

TEST(FrozenMemory, AFrozenStretchKeepsNothing) {
  constexpr std::int64_t batch = 4, time = 32, width = 64;
  constexpr std::size_t rows = batch * time * width * sizeof(float);
  GPT gpt({.vocab_size = 64, .context = time, .layers = 4, .heads = 2, .width = width, .tied = false});
  const Tensor input = zeros({batch, time}, DType::i64);
  const std::size_t all = kept_by(gpt, input);
  gpt.requires_grad(false);
  EXPECT_EQ(kept_by(gpt, input), 0U);
  gpt.named_modules().back().module->requires_grad(true);
  ASSERT_EQ(gpt.named_modules().back().name, "lm_head");
  EXPECT_EQ(kept_by(gpt, input), rows) << "the head's input";
  gpt.blocks()[3]->requires_grad(true);
  const std::size_t last = kept_by(gpt, input);
  EXPECT_LT(static_cast<double>(last), 0.3 * static_cast<double>(all));
  RecordProperty("all_bytes", static_cast<int>(all)),
      RecordProperty("last_block_bytes", static_cast<int>(last));
}

// After a trained layer, a frozen one needs no input, a norm and an activation do.
TEST(FrozenMemory, WhatOnlyTheWeightsGradientNeedsIsNotKept) {
  constexpr std::int64_t width = 64;
  constexpr std::size_t rows = 16 * width * sizeof(float);
  Sequential model;
  for (int i = 0; i < 3; ++i) model.add<Linear>(width, width);
  const Tensor input = ones({16, width});
  EXPECT_EQ(kept_by(model, input), 2 * rows);
  model[1].requires_grad(false), model[2].requires_grad(false);
  EXPECT_EQ(kept_by(model, input), 0U) << "the first layer's input is the caller's";
  Sequential images;
  for (int i = 0; i < 2; ++i) images.add<Conv2d>(4, 4, 3, Conv2dOptions{.padding = 1});
  const Tensor pictures = ones({2, 4, 16, 16});
  constexpr std::size_t small = 1024;  // what a convolution itself has
  EXPECT_GE(kept_by(images, pictures), pictures.nbytes());
  EXPECT_LE(kept_by(images, pictures), pictures.nbytes() + small);
  images[1].requires_grad(false);
  EXPECT_LE(kept_by(images, pictures), small);
}

// labs/handbook/frozen.md: the default GPT of `./distlab train --model gpt`, on 4 blocks of 128 tokens.
TEST(FrozenMemory, TheTableOfTheHandbook) {
  struct Case {
    std::string what;
    std::function<void(GPT&)> freeze;
    std::int64_t parameters, gradients_and_state, kept;  // the last two in KiB
  };
  const std::vector<Case> cases{
      {"everything", [](GPT& gpt) { gpt.requires_grad(true); }, 821'504, 9'627, 16'965},
      {"the last block and the last norm",
       [](GPT& gpt) {
         gpt.blocks().back()->requires_grad(true);
         for (const auto& [name, module] : gpt.named_modules())
           if (name == "transformer.ln_f") module->requires_grad(true);
       },
       198'528, 2'327, 4'372},
      {"LoRA of rank 8", [](GPT& gpt) { add_lora(gpt, {.rank = 8}); }, 65'536, 768, 16'704},
      {"biases and norms",
       [](GPT& gpt) {
         for (const auto& [name, parameter] : gpt.named_parameters())
           parameter->requires_grad(parameter->value.dim() == 1);
       },
       6'912, 81, 10'564},
      {"nothing", [](GPT&) {}, 0, 0, 0}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    GPT gpt({.vocab_size = 92});
    gpt.requires_grad(false);
    const std::size_t frozen = Arena::local().in_use();
    one.freeze(gpt);
    std::int64_t trained = 0, all = 0;
    for (const Parameter* const parameter : gpt.parameters()) {
      all += parameter->value.numel();
      if (parameter->requires_grad()) trained += parameter->value.numel();
    }
    EXPECT_EQ(trained, one.parameters);
    const std::size_t added = static_cast<std::size_t>(all - 821'504) * sizeof(float);  // LoRA's values
    AdamW optimizer(gpt.parameters());
    optimizer.step();
    const auto in_kib = [](std::size_t bytes) { return std::lround(static_cast<double>(bytes) / 1024); };
    EXPECT_EQ(in_kib(Arena::local().in_use() - frozen - added), one.gradients_and_state);
    EXPECT_EQ(in_kib(kept_by(gpt, zeros({4, 128}, DType::i64))), one.kept);
  }
}

struct Trained {
  std::vector<std::unique_ptr<Parameter>> parameters;
  std::vector<Parameter*> all;
  explicit Trained(DType dtype) {
    for (std::size_t i = 0; i < 3; ++i) {
      parameters.push_back(std::make_unique<Parameter>());
      parameters.back()->initialize(scattered({5}, static_cast<double>(10 * i), dtype));
      all.push_back(parameters.back().get());
    }
  }
};

std::unique_ptr<Optimizer> make_optimizer(int kind, std::vector<Parameter*> parameters) {
  if (kind == 0)
    return std::make_unique<SGD>(parameters, SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1});
  if (kind == 1) return std::make_unique<Adam>(parameters, AdamOptions{.lr = 0.1, .weight_decay = 0.1});
  if (kind == 2) return std::make_unique<AdamW>(parameters, AdamWOptions{.lr = 0.1});
  return std::make_unique<SGD>(parameters, SGDOptions{.lr = 0.1});
}

// One optimizer of three parameters, which are frozen and unfrozen at random, is three optimizers, each of
// which steps when its parameter is trained: as torch's, which skip a parameter without a gradient. Now and
// then its state goes through a file.
TEST(FrozenOptimizer, EachParameterStepsWhenItIsTrained) {
  for (int kind = 0; kind < 4; ++kind)
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      SCOPED_TRACE(fmt::format("optimizer {}, {}", kind, name(dtype)));
      Trained together(dtype), apart(dtype);
      auto one = make_optimizer(kind, together.all);
      std::vector<std::unique_ptr<Optimizer>> each;
      for (Parameter* const parameter : apart.all) each.push_back(make_optimizer(kind, {parameter}));
      std::mt19937 random(static_cast<unsigned>(kind));
      for (int t = 0; t < 30; ++t) {
        for (std::size_t i = 0; i < 3; ++i) {
          const bool on = t < 2 ? i == 0 : random() % 3 > 0;
          together.all[i]->requires_grad(on);
          if (!on) continue;
          together.all[i]->grad.copy_(scattered({5}, t + static_cast<double>(i), dtype));
          apart.all[i]->grad.copy_(together.all[i]->grad);
          each[i]->step();
        }
        ASSERT_TRUE(t > 1 || !find(one->state_dict(), "1.exp_avg"));
        one->step();
        for (std::size_t i = 0; i < 3; ++i)
          ASSERT_TRUE(equal(together.all[i]->value, apart.all[i]->value))
              << "parameter " << i << ", step " << t;
        if (t % 7 != 6) continue;
        auto other = make_optimizer(kind, together.all);
        other->load_state_dict(one->state_dict());
        one = std::move(other);
      }
    }
}

TEST(FrozenOptimizer, HasNoStateForWhatIsFrozen) {
  Linear layer(3, 2);
  layer.to(DType::bf16);
  layer.weight().requires_grad(false);
  const Tensor weight = layer.weight().value.clone();
  AdamW optimizer(layer.parameters(), {.lr = 0.1, .weight_decay = 0.5});
  layer.forward(ones({1, 3}, DType::bf16));
  layer.backward(ones({1, 2}, DType::bf16));
  optimizer.step();
  EXPECT_TRUE(equal(layer.weight().value, weight)) << "nor does it decay";
  std::vector<std::string> names;
  for (const NamedTensor& entry : optimizer.state_dict()) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"step", "1.exp_avg", "1.exp_avg_sq", "1.master_param"}));
}

TEST(FrozenOptimizer, NamesWhatTheStateToLoadLacks) {
  Sequential model;
  model.add<Linear>(3, 2);
  model[0].parameters()[0]->requires_grad(false);
  Adam saved(model.parameters());
  saved.step();
  model.requires_grad(true);
  Adam optimizer(model.parameters());
  EXPECT_DIST_ERROR(optimizer.load_state_dict(saved.state_dict()), Errc::invalid_argument,
                    "Adam: \"0.weight\" is trained, and the state to load has nothing for it");
  EXPECT_TRUE(optimizer.state_dict().empty());
  optimizer.step();
  model.requires_grad(false);
  Adam later(model.parameters());
  later.load_state_dict(optimizer.state_dict());  // of the time when they were trained
  EXPECT_NE(find(later.state_dict(), "0.exp_avg"), nullptr);
  model.requires_grad(true);
  model[0].parameters()[1]->grad = ones({2}, DType::f64);
  EXPECT_DIST_ERROR(later.step(), Errc::invalid_argument, "the gradient of \"0.bias\" is [2] f64");
}

}  // namespace
}  // namespace dist::nn
