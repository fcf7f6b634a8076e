// Weights of other programs: what is assumed, and what is refused in one line.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "dist/core/error.h"

#include "distlab/train/weights/pickle.h"
#include "integration/train/foreign_files.h"
#include "integration/train/run_train.h"

namespace {

using namespace train_test;  // NOLINT

std::string refusal(const StateDict& dict, ForeignHints hints = {.heads = 3}) {
  try {
    (void)read_foreign("some.safetensors", dict, hints);
  } catch (const dist::Error& error) {
    EXPECT_EQ(error.code(), dist::Errc::invalid_argument);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

TEST(ForeignWeights, HeadsOf64AreAssumedForGpt2Alone) {
  StateDict wide;
  for (const auto& [name, tensor] : golden_file("foreign_gpt2")) {
    dist::Shape shape = tensor.shape();
    for (auto& size : shape)  // 12, 36 and 48 become 128, 384 and 512
      if (size % 12 == 0) size = size / 12 * 128;
    wide.push_back({name, dist::zeros(shape)});
  }
  const auto read = read_foreign("f", wide, {});
  EXPECT_EQ(read.gpt.heads, 2);
  EXPECT_HAS(read.about, "heads 2 (assumed; --heads says otherwise)");
  EXPECT_EQ(read_foreign("f", wide, {.heads = 4}).gpt.heads, 4);
  EXPECT_HAS(refusal(golden_file("foreign_gpt2"), {}), "how many heads a Hugging Face GPT-2 has cannot be");
  EXPECT_HAS(refusal(golden_file("nanogpt_tied"), {}), "add --heads N");
  EXPECT_HAS(refusal(golden_file("nanogpt_tied"), {.heads = 5}), "--heads 5 does not divide its width 12");
  EXPECT_HAS(refusal(golden_file("foreign_llama"), {.heads = 16}), "--heads 16 makes heads of 1 elements");
  EXPECT_HAS(refusal(golden_file("foreign_llama"), {.heads = 1}), "do not fit its keys of 8 rows");
}

TEST(ForeignWeights, WhatDoesNotFitIsNamed) {
  const auto gpt2 = golden_file("foreign_gpt2");
  const auto with = [&](const std::string& which, const std::function<void(StateDict&, std::size_t)>& f) {
    StateDict all = gpt2;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == which) {
        f(all, i);
        break;
      }
    return refusal(all);
  };
  const auto reshaped = [](dist::Shape shape) {
    return [shape](StateDict& all, std::size_t i) { all[i].tensor = dist::zeros(shape); };
  };
  const std::string c_fc = "transformer.h.1.mlp.c_fc.weight";
  EXPECT_HAS(
      with(c_fc, reshaped({12, 50})),
      "some.safetensors: \"" + c_fc + "\" is [12, 50], but the other shapes of this Hugging Face GPT-2");
  EXPECT_HAS(with(c_fc, reshaped({12, 50})), "make it [12, 48]");
  EXPECT_HAS(with("transformer.wpe.weight", reshaped({0, 12})), "is [0, 12], which has no elements");
  EXPECT_HAS(with(c_fc, reshaped({12})),
             "\"" + c_fc + "\" is [12], but a Hugging Face GPT-2 has 2 axes there");
  EXPECT_HAS(with(c_fc, [](StateDict& all, std::size_t i) { all.erase(all.begin() + std::ptrdiff_t(i)); }),
             "it lacks \"" + c_fc + "\", which a Hugging Face GPT-2 with 2 blocks and biases has");
  EXPECT_HAS(
      with(c_fc, [](StateDict& all, std::size_t i) { all[i].tensor = all[i].tensor.to(dist::DType::i8); }),
      "\"" + c_fc + "\" is in i8; distlab reads");
  EXPECT_HAS(with(c_fc,
                  [&](StateDict& all, std::size_t) {
                    all.push_back({"h.1.mlp.c_fc.weight", all[0].tensor});
                  }),
             "\"h.1.mlp.c_fc.weight\"");
  EXPECT_HAS(
      with(c_fc, [](StateDict& all, std::size_t i) { all[i].name = "transformer.h.1.mlp.c_fc.scales"; }),
      "\"transformer.h.1.mlp.c_fc.scales\" is not a parameter of a Hugging Face GPT-2");
  const auto other = refusal({{"conv1.weight", dist::zeros({1})}, {"conv1.bias", dist::zeros({1})}});
  EXPECT_HAS(other,
             "its 2 tensors are not those of a GPT that distlab knows: the first names are \"conv1.weight\"");
  EXPECT_HAS(
      other,
      "expected a Hugging Face GPT-2 (transformer.h.0.attn.c_attn.weight [width, 3 width]), a nanoGPT");
}

class TrainForeign : public train_test::RunTrain {
 protected:
  std::string file(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return in_folder(name);
  }
};

TEST_F(TrainForeign, ConfigJsonIsReadAndChecked) {
  const auto weights = in_folder("model.safetensors");
  const auto config_of = [&](const std::string& json) {
    (void)file("config.json", json);
    return distlab::config_beside(weights);
  };
  const auto refused = [&](const std::string& json) -> std::string {
    try {
      (void)config_of(json);
    } catch (const dist::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_FALSE(distlab::config_beside(weights));
  EXPECT_FALSE(config_of("{}"));
  EXPECT_FALSE(config_of("not JSON"));
  const auto gpt2 = config_of(
      R"({"model_type": "gpt2", "n_head": 3, "layer_norm_epsilon": 1e-6, "activation_function": "gelu"})");
  ASSERT_TRUE(gpt2);
  EXPECT_FALSE(gpt2->is_llama);
  EXPECT_EQ(gpt2->heads, 3);
  EXPECT_EQ(gpt2->norm_eps, 1e-6);
  EXPECT_EQ(gpt2->gelu_tanh, false);
  const auto llama = config_of(
      R"({"model_type": "llama", "num_attention_heads": 4, "rope_scaling": null, "rms_norm_eps": 1e-5,)"
      R"( "hidden_act": "silu", "rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"}})");
  ASSERT_TRUE(llama);
  EXPECT_TRUE(llama->is_llama);
  EXPECT_EQ(llama->rotary_base, 500'000);
  EXPECT_HAS(refused(R"({"model_type": "gemma"})"),
             "config.json says model_type = \"gemma\", which distlab does not compute; it knows \"gpt2\", ");
  EXPECT_HAS(refused(R"({"model_type": "llama", "rope_scaling": {"factor": 8}})"), "rope_scaling = {");
  EXPECT_HAS(refused(R"({"model_type": "llama", "rope_parameters": {"rope_type": "yarn"}})"),
             "it knows \"default\"");
  EXPECT_HAS(refusal(golden_file("foreign_llama"), {.heads = 2, .context = 8, .config = llama}),
             "--heads is 2, but config.json beside it says 4; leave the option out");
  EXPECT_HAS(refusal(golden_file("foreign_llama"), {.context = 8, .config = gpt2}),
             "its names are those of a Hugging Face Llama, but config.json beside it is of another model");
}

TEST_F(TrainForeign, FilesOfTorchSaveAreConvertedByOneLine) {
  for (const std::string& begin :
       {std::string("PK\x03\x04zip"), std::string("\x80\x02\x8a\nl\xfc\x9c\x46")}) {
    const auto path = file("model.pt", begin);
    try {
      distlab::expect_no_pickle(path);
      ADD_FAILURE() << "not refused";
    } catch (const dist::Error& error) {
      EXPECT_HAS(std::string(error.what()), path + " is a file of torch.save(), which distlab does not read");
      EXPECT_HAS(std::string(error.what()), "torch.load('" + path + "'");
      EXPECT_HAS(std::string(error.what()), "'" + in_folder("model.safetensors") + "')\"");
    }
  }
  distlab::expect_no_pickle(file("s", std::string("\x80\x02\0\0\0\0\0\0{", 9)));  // a header of 640 bytes
  distlab::expect_no_pickle(file("empty", ""));
  distlab::expect_no_pickle(in_folder("none"));
}

}  // namespace
