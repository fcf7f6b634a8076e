// Weights of other programs: the state dicts that PyTorch wrote, in every dress, and written for it again.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "dist/nn/cross_entropy.h"

#include "distlab/train/weights/export.h"
#include "integration/train/foreign_files.h"

namespace {

using namespace train_test;  // NOLINT

TEST(ForeignWeights, TheLogitsArePyTorchs) {
  const auto facts = golden_facts("foreign.json");
  for (const auto& [file, heads] : {std::pair{"foreign_gpt2", 3}, std::pair{"foreign_llama", 4}}) {
    SCOPED_TRACE(file);
    const auto foreign = read_foreign(file, golden_file(file), {.heads = heads, .context = 8});
    auto gpt = model_of(foreign);
    const auto logits = gpt->forward(tokens_in(facts)).to_vector<float>();
    const auto expected = facts[file]["logits"].get<std::vector<float>>();
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-5) << i;
  }
}

TEST(ForeignWeights, ConfigSaysWhatShapesDoNot) {
  const auto facts = golden_facts("foreign.json");
  distlab::ForeignConfig config;
  config.is_llama = true, config.heads = 4, config.norm_eps = 1e-2, config.rotary_base = 500'000;
  const auto foreign = read_foreign("f", golden_file("foreign_llama"), {.context = 8, .config = config});
  EXPECT_EQ(foreign.about,
            "heads 4 (config.json), epsilon of norms 0.01 (config.json), base of rotary positions 500000 "
            "(config.json)");
  const auto logits = model_of(foreign)->forward(tokens_in(facts)).to_vector<float>();
  const auto expected = facts["foreign_llama_config"]["logits"].get<std::vector<float>>();
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-5) << i;
}

TEST(ForeignWeights, ANanoGptHasPyTorchsLoss) {
  const auto facts = golden_facts("checkpoint.json");
  for (const std::string file : {"nanogpt_untied", "nanogpt_tied", "nanogpt_tied_once"}) {
    SCOPED_TRACE(file);
    const auto foreign = read_foreign(file, golden_file(file), {.heads = 3});
    EXPECT_EQ(foreign.family, "nanoGPT");
    EXPECT_EQ(foreign.gpt.tied, file != "nanogpt_untied");
    auto gpt = model_of(foreign);
    nn::CrossEntropyLoss loss;
    const double got =
        loss.forward(gpt->forward(tokens_in(facts)), tokens_in({{"tokens", facts["targets"]}}));
    EXPECT_NEAR(got, facts[file + ".safetensors"]["loss"].get<double>(), 1e-5);
  }
}

TEST(ForeignWeights, OptionsAreReadFromTheShapes) {
  const auto gpt2 = read_foreign("f", golden_file("foreign_gpt2"), {.heads = 3});
  EXPECT_EQ(gpt2.family, "Hugging Face GPT-2");
  EXPECT_EQ(gpt2.gpt.vocab_size, 13);
  EXPECT_EQ(gpt2.gpt.context, 8);
  EXPECT_EQ(gpt2.gpt.layers, 2);
  EXPECT_EQ(gpt2.gpt.width, 12);
  EXPECT_EQ(gpt2.gpt.hidden, 0);
  EXPECT_TRUE(gpt2.gpt.tied && gpt2.gpt.bias && gpt2.gpt.gelu_tanh);
  EXPECT_FALSE(gpt2.gpt.rms_norm || gpt2.gpt.gated || gpt2.gpt.rotary);
  const auto llama = read_foreign("f", golden_file("foreign_llama"), {.heads = 4, .context = 32});
  EXPECT_EQ(llama.family, "Hugging Face Llama");
  EXPECT_EQ(llama.gpt.kv_heads, 2);
  EXPECT_EQ(llama.gpt.hidden, 24);
  EXPECT_EQ(llama.gpt.context, 32);
  EXPECT_TRUE(llama.gpt.rms_norm && llama.gpt.gated && llama.gpt.rotary);
  EXPECT_FALSE(llama.gpt.tied || llama.gpt.bias || llama.gpt.gelu_tanh);
}

TEST(ForeignWeights, NamesComeInEveryDress) {
  for (const std::string file : {"foreign_gpt2", "foreign_llama", "nanogpt_tied"}) {
    const ForeignHints hints{.heads = file == "foreign_llama" ? 4 : 3, .context = 8};
    const auto plain = read_foreign(file, golden_file(file), hints);
    for (const std::string dress : {"_orig_mod.", "module.", "module._orig_mod.", "bare", "in the middle"}) {
      SCOPED_TRACE(file + " " + dress);
      const auto dressed = changed(golden_file(file), [&](std::string& name, dist::Tensor&) {
        const std::size_t dot = name.find('.') + 1;
        if (dress == "bare") {
          if (name != "lm_head.weight") name.erase(0, dot);
        } else if (dress == "in the middle") {
          name.insert(dot, "_orig_mod.");
        } else {
          name.insert(0, dress);
        }
      });
      const auto read = read_foreign(file, dressed, hints);
      ASSERT_EQ(read.state.size(), plain.state.size());
      for (std::size_t i = 0; i < read.state.size(); ++i) {
        EXPECT_EQ(read.state[i].name, plain.state[i].name);
        EXPECT_TRUE(equal(read.state[i].tensor, plain.state[i].tensor)) << read.state[i].name;
      }
    }
  }
}

TEST(ForeignWeights, NumbersOfEveryWidthBecomeF32) {
  for (const auto dtype : {dist::DType::f16, dist::DType::bf16, dist::DType::f64}) {
    SCOPED_TRACE(dist::name(dtype));
    const auto in = changed(golden_file("foreign_gpt2"),
                            [&](std::string&, dist::Tensor& tensor) { tensor = tensor.to(dtype); });
    const auto plain = read_foreign("f", golden_file("foreign_gpt2"), {.heads = 3});
    const auto read = read_foreign("f", in, {.heads = 3});
    ASSERT_EQ(read.state.size(), plain.state.size());
    for (std::size_t i = 0; i < read.state.size(); ++i) {
      EXPECT_EQ(read.state[i].tensor.dtype(), dist::DType::f32);
      EXPECT_TRUE(equal(read.state[i].tensor, plain.state[i].tensor.to(dtype).to(dist::DType::f32)));
    }
  }
}

TEST(ForeignWeights, AnExportedModelIsReadAgain) {
  const auto folder = std::filesystem::temp_directory_path() / "distlab-export-test";
  std::filesystem::create_directories(folder);
  for (const std::string file : {"foreign_gpt2", "foreign_llama", "nanogpt_tied", "nanogpt_untied"}) {
    SCOPED_TRACE(file);
    const ForeignHints hints{.heads = file == "foreign_llama" ? 4 : 3, .context = 8};
    const auto read = read_foreign(file, golden_file(file), hints);
    auto gpt = model_of(read);
    gpt->to(dist::DType::f64);
    const auto said = distlab::export_weights(folder / file, *gpt);
    EXPECT_HAS(said, file == "foreign_llama" ? "num_key_value_heads=2" : "n_layer=2, n_head=3, n_embd=12");
    EXPECT_EQ(said.find("approximate='tanh'") != said.npos, file == "foreign_gpt2") << said;
    const auto again = read_foreign(folder / file, nn::load_safetensors(folder / file), hints);
    EXPECT_EQ(again.family, file == "foreign_llama" ? "Hugging Face Llama" : "nanoGPT");
    EXPECT_EQ(again.gpt.tied, read.gpt.tied);
    ASSERT_EQ(again.state.size(), read.state.size());
    for (std::size_t i = 0; i < read.state.size(); ++i)
      EXPECT_TRUE(equal(again.state[i].tensor, read.state[i].tensor)) << read.state[i].name;
  }
  // PyTorch finds its own names and numbers again.
  for (const std::string file : {"nanogpt_tied", "nanogpt_untied", "foreign_llama"}) {
    const auto ours = nn::load_safetensors(folder / file);
    std::size_t parameters = 0;
    for (const auto& [name, tensor] : golden_file(file)) {
      if (name.ends_with("inv_freq")) continue;
      ++parameters;
      ASSERT_NE(nn::find(ours, name), nullptr) << name;
      EXPECT_TRUE(equal(*nn::find(ours, name), tensor)) << name;
    }
    EXPECT_EQ(ours.size(), parameters);
  }
  std::filesystem::remove_all(folder);
  nn::GptOptions mixed{.vocab_size = 5, .context = 4, .layers = 1, .heads = 1, .width = 4};
  mixed.rotary = true;
  EXPECT_THROW(distlab::check_export(mixed), dist::Error);
}

// The slope along the gradient, by differences.
TEST(ForeignWeights, TheGradientOfTheTanhGeluIsItsOwn) {
  const auto facts = golden_facts("checkpoint.json");
  auto gpt = model_of(read_foreign("f", golden_file("foreign_gpt2"), {.heads = 3}));
  gpt->to(dist::DType::f64);
  const auto inputs = tokens_in(facts), targets = tokens_in({{"tokens", facts["targets"]}});
  nn::CrossEntropyLoss criterion;
  const auto loss = [&] { return criterion.forward(gpt->forward(inputs), targets).item(); };
  (void)loss();
  (void)gpt->backward(criterion.backward());
  double squared = 0;
  const auto move = [&](double by) {
    for (auto* const parameter : gpt->parameters()) parameter->value.add_(parameter->grad, by);
  };
  for (const auto* const parameter : gpt->parameters()) squared += sum(parameter->grad * parameter->grad);
  constexpr double h = 1e-6;
  gpt->eval();
  move(h);
  const double above = loss();
  move(-2 * h);
  EXPECT_NEAR((above - loss()) / (2 * h) / squared, 1, 1e-6);
}

}  // namespace
