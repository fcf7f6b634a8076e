// LoRA: gradients by finite differences, the merged model, names, what is refused.
#include "dist/nn/lora.h"

#include <gtest/gtest.h>

#include "dist/nn/checkpoint.h"
#include "dist/nn/gpt.h"
#include "dist/nn/random.h"
#include "dist/nn/sequential.h"

#include "gradient_check.h"
#include "support/expect_error.h"

namespace dist::nn {
namespace {

// As after some training: B is not 0 any more.
void scatter_lora(Module& model) {
  double seed = 1;
  for (const auto& [name, parameter] : model.named_parameters())
    if (name.find("lora_") != std::string::npos)
      parameter->value.copy_(scattered(parameter->value.shape(), seed *= 3, parameter->value.dtype()));
}

double norm_of(const Tensor& t) { return std::sqrt(dot(t, t)); }

std::vector<std::string> state_names(Module& model) {
  std::vector<std::string> names;
  for (const auto& entry : model.state_dict()) names.push_back(entry.name);
  return names;
}

TEST(Lora, GradientsAreThoseOfDifferences) {
  for (const bool bias : {true, false}) {
    LoraLinear layer(5, 4, {.rank = 2, .alpha = 3}, {.bias = bias});
    layer.to(DType::f64);
    scatter_lora(layer);
    const Tensor input = scattered({2, 3, 5}, 7), weights = scattered({2, 3, 4}, 0.5);
    const auto loss = [&] { return dot(layer.forward(input), weights); };
    (void)layer.forward(input);
    const Tensor grad_input = layer.backward(weights);
    expect_gradient(input, grad_input, loss, "input");
    int trained = 0;
    for (const auto& [name, parameter] : layer.named_parameters()) {
      EXPECT_EQ(parameter->requires_grad(), name.starts_with("lora_")) << name;
      if (parameter->requires_grad())
        expect_gradient(parameter->value, parameter->grad, loss, name), ++trained;
    }
    EXPECT_EQ(trained, 2);
  }
}

TEST(Lora, BeginsAsTheLayerAndEndsMerged) {
  const Tensor weight = scattered({4, 5}, 1, DType::f32), bias = scattered({4}, 2, DType::f32),
               input = scattered({3, 5}, 3, DType::f32);
  LoraLinear layer(weight, bias, {.rank = 2, .alpha = 4});
  EXPECT_EQ(layer.str(), "Linear(5, 4, LoRA rank 2)");
  EXPECT_EQ(state_names(layer),
            (std::vector<std::string>{"weight", "bias", "lora_A.weight", "lora_B.weight"}));
  Linear plain(5, 4);
  plain.weight().initialize(weight.clone()), plain.bias()->initialize(bias);
  EXPECT_TRUE(equal(layer.forward(input), plain.forward(input)));
  scatter_lora(layer);
  const Tensor before = layer.weight().value.clone(), apart = layer.forward(input);
  layer.merge();
  EXPECT_EQ(state_names(layer), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_FALSE(layer.trains());
  EXPECT_LT(norm_of(layer.forward(input) - apart), 1e-6 * norm_of(apart));
  plain.load_state_dict(layer.state_dict());
  EXPECT_TRUE(equal(layer.forward(input), plain.forward(input)));
  EXPECT_DIST_ERROR(layer.merge(), Errc::invalid_argument, "is merged already");
  layer.unmerge();
  EXPECT_TRUE(equal(layer.weight().value, before));
  EXPECT_TRUE(equal(layer.forward(input), apart));
  EXPECT_TRUE(layer.trains());
  EXPECT_DIST_ERROR(layer.unmerge(), Errc::invalid_argument, "is not merged");
}

TEST(Lora, OfAGptIsBesideItsLinearLayers) {
  for (const bool gated : {false, true}) {
    const GptOptions options{
        .vocab_size = 11, .context = 6, .layers = 2, .heads = 2, .width = 8, .gated = gated};
    manual_seed(1);
    GPT gpt(options), alone(options), recomputed(options);
    alone.load_state_dict(gpt.state_dict()), recomputed.load_state_dict(gpt.state_dict());
    const auto before = state_names(gpt);
    EXPECT_EQ(add_lora(gpt, {.rank = 2}), gated ? 10U : 8U);
    std::int64_t trained = 0;
    const std::int64_t hidden = gated ? 24 : 32;
    for (const Parameter* const parameter : gpt.parameters())
      if (parameter->requires_grad()) trained += parameter->value.numel();
    EXPECT_EQ(trained, 2 * 2 * ((8 + 24) + (8 + 8) + (gated ? 3 : 2) * (8 + hidden)));
    const Tensor tokens = arange(10, DType::i64).view({2, 5});
    EXPECT_TRUE(equal(gpt.forward(tokens), alone.forward(tokens)));
    scatter_lora(gpt);
    add_lora(recomputed, {.rank = 2});
    recomputed.load_state_dict(gpt.state_dict());
    for (Block* const block : recomputed.blocks()) checkpoint(*block);
    const Tensor out = gpt.forward(tokens);
    gpt.backward(ones(out.shape()));
    EXPECT_TRUE(equal(recomputed.forward(tokens), out));
    recomputed.backward(ones(out.shape()));
    for (std::size_t i = 0; i < gpt.parameters().size(); ++i) {
      const Parameter &a = *gpt.parameters()[i], &b = *recomputed.parameters()[i];
      ASSERT_EQ(a.grad.is_defined(), a.name.find("lora_") != std::string::npos) << a.name;
      if (!a.grad.is_defined()) continue;
      EXPECT_TRUE(equal(a.grad, b.grad)) << a.name;
      EXPECT_GT(norm_of(a.grad), 0) << a.name;
    }
    merge_lora(gpt);
    EXPECT_EQ(state_names(gpt), before);
    alone.load_state_dict(gpt.state_dict());
    EXPECT_LT(norm_of(alone.forward(tokens) - out), 1e-5 * norm_of(out));
    unmerge_lora(gpt);
    EXPECT_TRUE(equal(gpt.forward(tokens), out));
  }
}

TEST(Lora, FollowsTheWeightToAnotherDtype) {
  LoraLinear layer(5, 4, {.rank = 2});
  scatter_lora(layer);
  layer.merge();
  layer.to(DType::bf16);
  layer.unmerge();
  EXPECT_EQ(layer.forward(ones({1, 5}, DType::bf16)).dtype(), DType::bf16);
}

TEST(Lora, AdaptsTheNamedTargets) {
  GPT gpt({.layers = 3, .heads = 2, .width = 8});
  EXPECT_DIST_ERROR(
      add_lora(gpt, {.targets = {"c_attn", "w1"}}), Errc::invalid_argument,
      "add_lora: no Linear of GPT(3 layers, 2 heads, width 8, context 128) without LoRA is named \"w1\"");
  EXPECT_TRUE(gpt.parameters()[0]->requires_grad());
  EXPECT_EQ(add_lora(gpt, {.targets = {"c_attn"}}), 3U);
  EXPECT_DIST_ERROR(add_lora(gpt, {.targets = {"c_attn"}}), Errc::invalid_argument, "without LoRA");
  EXPECT_DIST_ERROR(add_lora(gpt, {.targets = {"lm_head"}}), Errc::invalid_argument, "is another layer's");
  EXPECT_DIST_ERROR(add_lora(gpt, {.rank = 0}), Errc::invalid_argument, "rank = 0");
  Sequential none;
  EXPECT_DIST_ERROR(add_lora(none), Errc::invalid_argument, "has no Linear");
  EXPECT_DIST_ERROR(merge_lora(none), Errc::invalid_argument, "call add_lora() first");
}

}  // namespace
}  // namespace dist::nn
