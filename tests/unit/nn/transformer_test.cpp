// The transformer's layers: gradients by differences, dropout, slices, what is refused.
#include <gtest/gtest.h>

#include "dist/nn/nn.h"
#include "dist/nn/row_functors.h"

#include "support/expect_error.h"
#include "unit/nn/gradient_check.h"

namespace dist::nn {
namespace {

TEST(Transformer, GradientsAreThoseOfDifferences) {
  for (const std::int64_t width : {1, 2, 5}) {
    if (width > 1) {
      LayerNorm norm(width);
      check_gradients(norm, scattered({2, 3, width}, 3));
    }
    RMSNorm rms(width);
    check_gradients(rms, scattered({3, width}, 3));
  }
  GELU gelu;
  GELU approximate({.tanh = true});
  SiLU silu;
  for (Module* const module :
       {static_cast<Module*>(&gelu), static_cast<Module*>(&approximate), static_cast<Module*>(&silu)})
    check_gradients(*module, scattered({2, 5}, 2) * 3);
  for (const bool rotary : {false, true}) {
    for (const std::int64_t kv_heads : {1, 2, 4}) {
      for (const double dropout : {0.0, 0.3}) {
        CausalSelfAttention attention(
            8,
            {.heads = 4, .kv_heads = kv_heads, .bias = kv_heads != 2, .dropout = dropout, .rotary = rotary});
        check_gradients(attention, scattered({2, 3, 8}, 4));
      }
    }
  }
  for (const bool llama : {false, true}) {
    GptOptions options;
    options.heads = 2, options.width = 4, options.hidden = 3, options.dropout = 0.2;
    options.rms_norm = options.gated = options.rotary = llama;
    Block block(options);
    check_gradients(block, scattered({2, 3, 4}, 6));
  }
}

// Longer than a block of queries on the CPU, with a sequence that it does not divide.
TEST(Transformer, AttentionOverSeveralBlocks) {
  const std::int64_t time = 150, size = 4;
  const Tensor qkv = scattered({1, time, 3 * size}, 1);
  const Heads q{qkv, 0, 1, size}, k{qkv, size, 1, size}, v{qkv, 2 * size, 1, size};
  const Tensor out = empty({1, time, size}, DType::f64), lse = empty({1, 1, time}, DType::f64);
  AttentionOptions options;
  options.scale = 0.5;
  ops_for(cpu).attention({out, 0, 1, size}, lse, q, k, v, options);
  const auto at = [&](std::int64_t t, std::int64_t part, std::int64_t d) {
    return qkv.data<double>()[static_cast<std::size_t>(t * 3 * size + part * size + d)];
  };
  for (std::int64_t t = 0; t < time; ++t) {
    std::vector<double> weights(static_cast<std::size_t>(t + 1));
    double total = 0;
    for (std::int64_t j = 0; j <= t; ++j) {
      double score = 0;
      for (std::int64_t d = 0; d < size; ++d) score += 0.5 * at(t, 0, d) * at(j, 1, d);
      total += weights[static_cast<std::size_t>(j)] = std::exp(score);
    }
    for (std::int64_t d = 0; d < size; ++d) {
      double expected = 0;
      for (std::int64_t j = 0; j <= t; ++j)
        expected += weights[static_cast<std::size_t>(j)] / total * at(j, 2, d);
      EXPECT_NEAR(out.data<double>()[static_cast<std::size_t>(t * size + d)], expected, 1e-12) << t;
    }
  }
}

TEST(Transformer, DropoutDependsOnTheElementsNumberAlone) {
  Dropout whole(0.5, 7), lower(0.5, 7);
  const Tensor x = ones({4, 3, 5});
  whole.set_position({.seed = 1, .step = 2});
  lower.set_position({.seed = 1, .step = 2, .first_row = 2});
  const Tensor all = whole.forward(x);
  EXPECT_TRUE(equal(lower.forward(ones({2, 3, 5})), all.narrow(2, 2)));
  EXPECT_TRUE(equal(whole.backward(x), all)) << "backward drops the same";
  Dropout rows(0.5, 7);
  rows.set_position({.seed = 1, .step = 2});
  rows.set_rows(1, 3);
  const Tensor middle = rows.forward(ones({4, 2, 5}));
  for (std::int64_t b = 0; b < 4; ++b) EXPECT_TRUE(equal(middle[b], all[b].narrow(1, 2)));
  whole.set_position({.seed = 1, .step = 3});
  EXPECT_FALSE(equal(whole.forward(x), all)) << "another step";
  const double mean = sum(Dropout(0.25).forward(ones({1000, 100}))) / 1e5;
  EXPECT_NEAR(mean, 1, 0.01);
  whole.eval();
  EXPECT_TRUE(equal(whole.forward(x), x));
  EXPECT_DIST_ERROR(Dropout(1.5), Errc::invalid_argument, "a probability is from 0 to 1");
}

GptOptions small(bool tied = true) {
  GptOptions options;
  options.vocab_size = 11, options.context = 6, options.layers = 3, options.heads = 2, options.width = 8;
  options.dropout = 0.1, options.tied = tied;
  return options;
}

TEST(Transformer, SlicesTogetherAreTheWhole) {
  for (const bool tied : {false, true}) {
    const auto make = [&](GptSlice slice) {
      manual_seed(5);
      return std::make_unique<GPT>(small(tied), slice);
    };
    const auto whole = make({}), first = make({0, 1}), second = make({1, 3});
    const Tensor tokens = arange(10, DType::i64).view({2, 5});
    const Tensor logits = whole->forward(tokens);
    EXPECT_EQ(logits.shape(), (Shape{2, 5, 11}));
    EXPECT_TRUE(equal(second->forward(first->forward(tokens)), logits));
    const Tensor grad = scattered(logits.shape(), 1, DType::f32);
    EXPECT_FALSE(whole->backward(grad).is_defined());
    first->backward(second->backward(grad));
    for (const auto& slice : {first.get(), second.get()}) {
      for (const auto& [name, parameter] : slice->named_parameters()) {
        if (tied && (name == "lm_head.weight" || name.ends_with("wte.weight"))) continue;  // each has a part
        const auto all = whole->named_parameters();
        const auto same = std::ranges::find(all, name, &NamedParameter::name);
        ASSERT_NE(same, all.end()) << name;
        EXPECT_TRUE(equal(parameter->grad, same->parameter->grad)) << name;
      }
    }
  }
}

TEST(Transformer, ATiedHeadHasItsGradientOnce) {
  manual_seed(2);
  GPT gpt(small());
  std::string ready;
  for (const auto& [name, parameter] : gpt.named_parameters())
    parameter->listen("test", &ready, [&ready, name = name] { ready += name + " "; });
  gpt.forward(zeros({1, 2}, DType::i64));
  gpt.backward(ones({1, 2, 11}));
  EXPECT_TRUE(ready.starts_with("transformer.ln_f.")) << ready;
  EXPECT_TRUE(ready.ends_with(" transformer.wte.weight ")) << ready;
  EXPECT_EQ(ready.find("wte"), ready.rfind("wte"));
  EXPECT_EQ(ready.find("lm_head"), std::string::npos);
}

TEST(Transformer, RecomputationIsTheSameBitForBit) {
  const auto make = [] {
    manual_seed(3);
    auto gpt = std::make_unique<GPT>(small());
    gpt->set_position({.seed = 4, .step = 9});
    return gpt;
  };
  const auto plain = make(), again = make();
  for (Block* const block : again->blocks()) checkpoint(*block);
  const Tensor tokens = arange(6, DType::i64).view({1, 6});
  EXPECT_TRUE(equal(again->forward(tokens), plain->forward(tokens)));
  again->set_position({.seed = 4, .step = 10});  // the next forward's, while a backward is due
  const Tensor grad = ones({1, 6, 11});
  plain->backward(grad);
  again->backward(grad);
  for (std::size_t i = 0; i < plain->parameters().size(); ++i)
    EXPECT_TRUE(equal(again->parameters()[i]->grad, plain->parameters()[i]->grad)) << i;
}

TEST(Transformer, SaysWhatItExpects) {
  EXPECT_DIST_ERROR(CausalSelfAttention(8, {.heads = 3}), Errc::invalid_argument,
                    "3 heads do not divide the width 8");
  EXPECT_DIST_ERROR(CausalSelfAttention(8, {.heads = 4, .kv_heads = 3}), Errc::invalid_argument,
                    "do not divide 4");
  EXPECT_DIST_ERROR(CausalSelfAttention(6, {.heads = 2, .rotary = true}), Errc::invalid_argument,
                    "rotate pairs");
  GPT gpt(small());
  EXPECT_DIST_ERROR(gpt.forward(zeros({1, 7}, DType::i64)), Errc::invalid_argument,
                    "[batch, at most 6 tokens]");
  EXPECT_DIST_ERROR(gpt.forward(full({1, 2}, 11, DType::i64)), Errc::invalid_argument, "token 11 has no row");
  EXPECT_DIST_ERROR(gpt.forward(zeros({1, 2})), Errc::invalid_argument, "i64 tokens on cpu are expected");
  LayerNorm norm(4);
  EXPECT_DIST_ERROR(norm.forward(zeros({2, 3})), Errc::invalid_argument, "[..., 4] is expected");
}

TEST(Transformer, ExponentialsInF32AreNearlyThoseInF64) {
  for (float x = -87; x < 88.3F; x += 0.0137F)
    EXPECT_NEAR(functors::exponential(x) / std::exp(static_cast<double>(x)), 1, 3e-7) << x;
  EXPECT_EQ(functors::exponential(0.F), 1.F);
  EXPECT_EQ(functors::exponential(-200.F), 0.F);
  EXPECT_EQ(functors::exponential(200.F), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(functors::exponential(std::nanf(""))));
  for (float x = -5; x < 5; x += 0.0137F) {
    EXPECT_NEAR(functors::error_function(x), std::erf(static_cast<double>(x)), 4e-7) << x;
    EXPECT_NEAR(functors::hyperbolic_tangent(x), std::tanh(static_cast<double>(x)), 4e-7) << x;
  }
}

}  // namespace
}  // namespace dist::nn
