// The transformer against PyTorch's numbers (tests/golden/transformer).
#include "unit/nn/transformer_golden.h"

#include <gtest/gtest.h>

#include "dist/nn/nn.h"
#include "dist/nn/ops.h"

namespace dist::nn::golden {
namespace {

void expect_gradients(Module& module, const StateDict& golden, double tolerance) {
  for (const auto& [name, parameter] : module.named_parameters())
    expect_close(without_key_bias(name, parameter->grad),
                 without_key_bias(name, *find(golden, "grad." + name)), tolerance, "gradient of " + name);
}

// Output and all gradients of a module for one input.
void check(Module& module, const StateDict& golden) {
  const DType dtype = find(golden, "output")->dtype();
  module.to(dtype);
  module.load_state_dict(part(golden, "param."));
  expect_close(module.forward(*find(golden, "input")), *find(golden, "output"), tolerance_of(dtype),
               "output");
  const Tensor grad_input = module.backward(*find(golden, "grad_output"));
  if (const Tensor* const expected = find(golden, "grad_input"))
    expect_close(grad_input, *expected, tolerance_of(dtype), "gradient of the input");
  expect_gradients(module, golden, tolerance_of(dtype));
}

template <class M>
void check_layer(const std::string& name, M&& module) {
  SCOPED_TRACE(name);
  check(module, load("layers", name + "/"));
}

TEST(TransformerGolden, Layers) {
  check_layer("layer_norm", LayerNorm(9));
  check_layer("layer_norm_no_bias", LayerNorm(9, {.bias = false}));
  check_layer("rms_norm", RMSNorm(9));
  check_layer("gelu", GELU());
  check_layer("gelu_tanh", GELU({.tanh = true}));
  check_layer("silu", SiLU());
  check_layer("embedding", Embedding(11, 6));
  check_layer("attention", CausalSelfAttention(12, {.heads = 3}));
  check_layer("attention_no_bias", CausalSelfAttention(12, {.heads = 3, .bias = false}));
  check_layer("attention_grouped", CausalSelfAttention(12, {.heads = 4, .kv_heads = 2}));
  GptOptions gated;
  gated.width = 6, gated.hidden = 10, gated.gated = true, gated.bias = false;
  check_layer("gated_mlp", Mlp(gated));
  gated.bias = true;
  check_layer("gated_mlp_bias", Mlp(gated));
}

TEST(TransformerGolden, RotaryPositions) {
  for (const char* name : {"rotary/", "rotary_later/"}) {
    const StateDict golden = load("layers", name);
    const std::int64_t first = find(golden, "positions")->data<std::int64_t>()[0];
    // [batch, heads, time, size]: each head is a batch of its own.
    const auto rotated = [&](const char* what, int direction) {
      const Tensor t = find(golden, what)->clone();
      ops_for(cpu).rotate({t.view({6, 5, 6}), 0, 1, 6}, first, 10000, direction);
      return t;
    };
    expect_close(rotated("input", 1), *find(golden, "output"), 1e-10, name);
    expect_close(rotated("grad_output", -1), *find(golden, "grad_input"), 1e-10, name);
  }
}

TEST(TransformerGolden, CrossEntropy) {
  const nlohmann::json losses = read_json("layers.json");
  for (const char* name : {"cross_entropy", "cross_entropy_ignore"}) {
    const StateDict golden = load("layers", std::string(name) + "/");
    for (const bool in_place : {false, true}) {
      CrossEntropyLoss loss({.ignore_index = -1, .in_place = in_place});
      const Tensor logits = find(golden, "input")->clone();
      EXPECT_NEAR(loss.forward(logits, *find(golden, "targets")).item(), losses[name]["loss"].get<double>(),
                  1e-12);
      const Tensor grad = loss.backward();
      expect_close(grad, *find(golden, "grad_input"), 1e-10, name);
      EXPECT_EQ(grad.raw() == logits.raw(), in_place);
    }
  }
}

TEST(TransformerGolden, ABlock) {
  for (const char* file : {"block_f64", "block_f32"}) {
    SCOPED_TRACE(file);
    GptOptions options;
    options.heads = 3, options.width = 12;
    Block block(options);
    check(block, load(file));
  }
}

class GoldenGpt : public testing::TestWithParam<const char*> {};

TEST_P(GoldenGpt, LossLogitsAndGradients) {
  const StateDict golden = load(GetParam());
  const nlohmann::json about = read_json("gpt.json")[GetParam()];
  const DType dtype = find(golden, "logits")->dtype();
  const double tolerance = tolerance_of(dtype);
  GPT gpt(options_of(about["config"]));
  gpt.to(dtype);
  gpt.load_state_dict(part(golden, "param."));
  CrossEntropyLoss loss({.ignore_index = -1});
  const Tensor logits = gpt.forward(*find(golden, "tokens"));
  expect_close(logits, *find(golden, "logits"), tolerance, "logits");
  const double expected = about["loss"].get<double>();
  EXPECT_NEAR(loss.forward(logits, *find(golden, "targets")), expected, tolerance * expected);
  gpt.backward(loss.backward());
  expect_gradients(gpt, golden, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenGpt,
                         testing::Values("gpt_tied_f64", "gpt_untied_f64", "gpt_tied_f32", "gpt_untied_f32",
                                         "llama_f64"),
                         [](const auto& test) { return std::string(test.param); });

TEST(TransformerGolden, FilesOfNanoGpt) {
  const nlohmann::json all = read_json("checkpoint.json");
  const auto tokens = [&](const char* name) {
    std::vector<std::int64_t> values;
    for (const auto& row : all[name])
      for (const auto& token : row) values.push_back(token);
    return tensor(std::span<const std::int64_t>(values)).view({2, 8});
  };
  for (const char* name : {"nanogpt_untied", "nanogpt_tied", "nanogpt_tied_once"}) {
    const nlohmann::json about = all[std::string(name) + ".safetensors"];
    GPT gpt(options_of(about["config"]));
    gpt.load_state_dict(load(name));
    CrossEntropyLoss loss;
    EXPECT_NEAR(loss.forward(gpt.forward(tokens("tokens")), tokens("targets")),
                about["loss_f64"].get<double>(), 1e-6)
        << name;
  }
}

}  // namespace
}  // namespace dist::nn::golden
