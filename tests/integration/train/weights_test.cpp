// distlab train with --from a file of another program, with --export, and with the options of a Llama.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/nn/safetensors.h"

#include "integration/train/run_train.h"

namespace {

namespace nn = dist::nn;
using train_test::Arguments;

const std::string golden_folder = GOLDEN "/transformer/";

class TrainWeights : public train_test::RunTrain {
 protected:
  static Arguments gpt(const Arguments& more) {
    Arguments all{DISTLAB_PROGRAM, "train", "--model", "gpt"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Arguments tiny(const Arguments& more) {
    Arguments all = gpt({"--layers", "2", "--heads", "4", "--width", "32", "--context", "16", "--batch", "4",
                         "--eval-every", "3"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void refused(const Arguments& command, const std::string& words, int code = 2) {
    const auto said = run(command);
    EXPECT_EQ(said.exit_code, code) << said.output;
    EXPECT_TRUE(contains(said.output, words)) << said.output;
    EXPECT_FALSE(contains(said.output, "rank 0")) << said.output;
  }
  static void expect_same(const std::string& a, const std::string& b) {
    const auto first = nn::load_safetensors(a), second = nn::load_safetensors(b);
    ASSERT_EQ(first.size(), second.size());
    for (const auto& [name, tensor] : first) {
      ASSERT_NE(nn::find(second, name), nullptr) << name;
      EXPECT_TRUE(equal(tensor, *nn::find(second, name))) << name;
    }
  }
};

TEST_F(TrainWeights, AFileIsConvertedWithoutAText) {
  const auto out = in_folder("nano.safetensors");
  const auto said = run(gpt({"--steps", "0", "--from", golden_folder + "foreign_gpt2.safetensors", "--heads",
                             "3", "--export", out}));
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(
      contains(said.output,
               "is a Hugging Face GPT-2: 2 layers, width 12, context 8, 13 "
               "tokens, a tied head, GELU by tanh; heads 3, epsilon of norms 1e-05 (assumed; --norm-eps"))
      << said.output;
  EXPECT_TRUE(contains(said.output, out + ": 29 tensors in f32, with the names of a nanoGPT: n_layer=2"))
      << said.output;
  const auto again = in_folder("again.safetensors");
  ASSERT_EQ(
      run(gpt({"--steps", "0", "--from", out, "--heads", "3", "--gelu-tanh", "--export", again})).exit_code,
      0);
  EXPECT_TRUE(content(again) == content(out));
}

TEST_F(TrainWeights, WhatCannotBeIsOneLine) {
  const auto nano = golden_folder + "nanogpt_tied.safetensors", out = in_folder("out");
  refused(gpt({"--steps", "0", "--from", nano, "--export", out}), "add --heads N");
  refused(gpt({"--from", nano, "--heads", "3"}),
          "has 13 tokens, but --tokens chars makes 92 of the handouts");
  refused(gpt({"--from", nano, "--heads", "3", "--tokens", "bytes"}), "but --tokens bytes makes 256");
  refused(gpt({"--from", nano, "--heads", "3", "--width", "64"}), "--width is 64, but " + nano);
  refused(gpt({"--from", nano, "--heads", "3", "--gated"}), "--gated is true, but " + nano);
  refused(gpt({"--steps", "0", "--from", nano, "--heads", "3", "--export", nano}),
          "--export and --from name the same file");
  refused(gpt({"--steps", "0", "--from", nano, "--heads", "3"}), "--steps 0 only samples and exports");
  refused(gpt({"--steps", "0", "--from", nano, "--heads", "3", "--export", out, "--mesh", "dp=2"}),
          "leave out --mesh");
  refused(tiny({"--rotary", "--export", out}), "--export has no names for this model");
  refused(tiny({"--kv-heads", "3"}), "--kv-heads 3 does not divide --heads 4");
  refused(gpt({"--rotary", "--heads", "128"}), "--rotary rotates pairs");
  refused(tiny({"--norm-eps", "0.7"}), "it must be 1 divided by a whole number");
  refused(tiny({"--rotary-base", "0.5"}), "--rotary-base is 0.5; it must be a whole number");
  refused(tiny({"--gated", "--gelu-tanh"}), "--gated has SiLU instead of GELU");
  const std::string whole = content(nano);
  std::ofstream(folder_ / "cut", std::ios::binary) << whole.substr(0, whole.size() - 9);
  refused(gpt({"--steps", "0", "--from", in_folder("cut"), "--heads", "3", "--export", out}),
          "it is cut off: its tensors need ");
  EXPECT_FALSE(std::filesystem::exists(out));
}

// A run begins with an exported model as with the checkpoint: the characters are those of the text.
TEST_F(TrainWeights, AnExportedModelTrainsOn) {
  const auto checkpoint = in_folder("checkpoint"), weights = in_folder("weights");
  ASSERT_EQ(
      run(tiny({"--nproc", "2", "--steps", "3", "--checkpoint", checkpoint, "--export", weights})).exit_code,
      0);
  const auto from_checkpoint = in_folder("again");
  ASSERT_EQ(run(gpt({"--steps", "0", "--checkpoint", checkpoint, "--export", from_checkpoint})).exit_code, 0);
  EXPECT_TRUE(content(from_checkpoint) == content(weights));
  for (const char* const mesh : {"", "fsdp=2", "tp=2", "pp=2"}) {
    SCOPED_TRACE(mesh);
    const auto on = [&](Arguments more, const std::string& out) {
      more.insert(more.end(),
                  {"--steps", "3", "--batch", "4", "--eval-every", "3", "--export", in_folder(out)});
      if (*mesh)
        more.insert(more.end(), {"--mesh", mesh});
      else
        more.insert(more.end(), {"--nproc", "1"});
      const auto said = run(gpt(more));
      EXPECT_EQ(said.exit_code, 0) << said.output;
    };
    on({"--from", checkpoint}, "a");
    on({"--from", weights, "--heads", "4"}, "b");
    expect_same(in_folder("a"), in_folder("b"));
    EXPECT_FALSE(content(in_folder("a")) == content(weights));
  }
  const auto sampled = run(gpt({"--steps", "0", "--from", weights, "--heads", "4", "--sample", "A",
                                "--sample-length", "5"})),
             expected = run(
                 gpt({"--steps", "0", "--checkpoint", checkpoint, "--sample", "A", "--sample-length", "5"}));
  EXPECT_EQ(sampled.exit_code, 0) << sampled.output;
  EXPECT_TRUE(sampled.output.ends_with("\n" + expected.output)) << sampled.output << expected.output;
  const auto verified =
      run(gpt({"--from", weights, "--heads", "4", "--mesh", "tp=2,pp=2", "--verify", "--batch", "4"}));
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  EXPECT_TRUE(contains(verified.output, "as on one rank in f64")) << verified.output;
}

// A text that another program has made into tokens, as for GPT-2.
TEST_F(TrainWeights, TokensCanBeNumbersOfAFile) {
  const auto numbers = [&](const std::string& name, int modulus, std::size_t bytes) {
    std::string all;
    for (int i = 0; all.size() < bytes; ++i) all += {static_cast<char>(i * i % modulus), '\0'};
    std::ofstream(folder_ / name, std::ios::binary) << all.substr(0, bytes);
    return in_folder(name);
  };
  const auto bin = numbers("train.bin", 13, 600), checkpoint = in_folder("checkpoint");
  const Arguments from{"--from", golden_folder + "nanogpt_tied.safetensors", "--heads", "3"};
  const auto with = [&](Arguments more) {
    more.insert(more.end(), from.begin(), from.end());
    return gpt(more);
  };
  const Arguments sample{"--sample", "1, 4", "--sample-length", "3"};
  Arguments train{"--tokens", "u16", "--data",       bin, "--nproc",      "1",       "--batch", "2",
                  "--steps",  "4",   "--eval-every", "2", "--checkpoint", checkpoint};
  train.insert(train.end(), sample.begin(), sample.end());
  const auto trained = run(with(train));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  Arguments alone{"--steps", "0", "--checkpoint", checkpoint};
  alone.insert(alone.end(), sample.begin(), sample.end());
  const auto said = run(gpt(alone));
  EXPECT_TRUE(said.output.starts_with("1, 4, ")) << said.output;
  EXPECT_EQ(std::ranges::count(said.output, ','), 4) << said.output;
  EXPECT_TRUE(trained.output.ends_with("\n" + said.output)) << trained.output << said.output;
  train.insert(train.end(), {"--resume"});
  const auto resumed = run(with(train));
  EXPECT_TRUE(contains(resumed.output, "continuing after step 4")) << resumed.output;
  const auto sampled =
      run(with({"--steps", "0", "--tokens", "u16", "--sample", "1, 4", "--sample-length", "3"}));
  EXPECT_TRUE(contains(sampled.output, "\n1, 4, ")) << sampled.output;
  const auto refused_with = [&](const Arguments& more, const std::string& words) {
    refused(with(more), words);
  };
  refused_with({"--tokens", "u16"}, "--tokens u16 needs a file of numbers, such as nanoGPT's train.bin");
  refused_with({"--tokens", "u16", "--data", numbers("odd", 13, 301)},
               "has 301 bytes, but each number takes two");
  refused_with({"--tokens", "u16", "--data", numbers("large", 17, 600)},
               "has the number 16 at 4, but the model has 13 tokens");
  refused_with({"--tokens", "u16", "--data", bin, "--sample", "13"}, "its tokens are numbers from 0 to 12");
  const auto fresh = run(gpt({"--tokens", "u16", "--data", bin, "--steps", "2", "--context", "8", "--mesh",
                              "dp=2", "--batch", "2", "--sample", "1", "--sample-length", "3"}));
  EXPECT_EQ(fresh.exit_code, 0) << fresh.output;
}

TEST_F(TrainWeights, LoraIsMergedAndBf16Widened) {
  const auto base = in_folder("base"), adapted = in_folder("adapted"), out = in_folder("out");
  ASSERT_EQ(run(tiny({"--nproc", "1", "--steps", "3", "--export", base})).exit_code, 0);
  const Arguments how{"--from",  base, "--heads",      "4", "--nproc", "1",
                      "--batch", "4",  "--eval-every", "3", "--dtype", "bf16"};
  const auto with = [&](const Arguments& more) {
    Arguments all = gpt(how);
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto said =
      with({"--lora", "2", "--steps", "3", "--lr", "0.01", "--checkpoint", adapted, "--export", out});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "base is a nanoGPT: 2 layers, width 32, context 16")) << said.output;
  const auto again = in_folder("again");
  ASSERT_EQ(run(gpt({"--steps", "0", "--checkpoint", adapted, "--export", again})).exit_code, 0);
  EXPECT_TRUE(content(again) == content(out));
  const auto before = nn::load_safetensors(base), after = nn::load_safetensors(out);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, tensor] : after) {
    EXPECT_EQ(tensor.dtype(), dist::DType::f32) << name;
    const bool has_lora = name.find(".c_") != name.npos && name.ends_with("weight");
    EXPECT_NE(equal(tensor, nn::find(before, name)->to(dist::DType::bf16).to(dist::DType::f32)), has_lora)
        << name;
  }
  // A resumed run ends with the same bits, without the file that it began with.
  const auto whole = in_folder("whole"), parts = in_folder("parts");
  ASSERT_EQ(with({"--steps", "6", "--checkpoint", whole, "--decay-steps", "6"}).exit_code, 0);
  ASSERT_EQ(with({"--steps", "3", "--checkpoint", parts, "--decay-steps", "6"}).exit_code, 0);
  std::filesystem::remove(base);
  const auto resumed = with({"--steps", "6", "--checkpoint", parts, "--decay-steps", "6", "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_TRUE(content(parts) == content(whole));
}

TEST_F(TrainWeights, ALlamaIsTrainedResumedAndExported) {
  const Arguments llama{"--rotary-base",
                        "500000",
                        "--norm-eps",
                        "1e-6",
                        "--rms-norm",
                        "--gated",
                        "--rotary",
                        "--no-bias",
                        "--untied",
                        "--kv-heads",
                        "2",
                        "--hidden",
                        "48",
                        "--decay-steps",
                        "6"};
  const auto train = [&](const Arguments& more) {
    Arguments all = tiny(llama);
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto whole = in_folder("whole"), parts = in_folder("parts"), out = in_folder("out");
  const auto said = train({"--steps", "6", "--checkpoint", whole, "--export", out});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "with the names of a Hugging Face Llama: num_hidden_layers=2"))
      << said.output;
  ASSERT_EQ(train({"--steps", "3", "--checkpoint", parts}).exit_code, 0);
  ASSERT_EQ(train({"--steps", "6", "--checkpoint", parts, "--resume"}).exit_code, 0);
  EXPECT_TRUE(content(parts) == content(whole));
  const auto dict = nn::load_safetensors(out);
  EXPECT_EQ(nn::find(dict, "model.layers.1.self_attn.k_proj.weight")->shape(), (dist::Shape{16, 32}));
  const auto again = in_folder("again");
  ASSERT_EQ(run(gpt({"--steps", "0", "--from", out, "--heads", "4", "--context", "16", "--rotary-base",
                     "500000", "--norm-eps", "1e-6", "--export", again}))
                .exit_code,
            0);
  expect_same(out, again);
  const auto other = run(tiny({"--checkpoint", parts, "--resume", "--steps", "9"}));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.output, "is from a run with kv_heads = 2, but this run has 0")) << other.output;
  EXPECT_TRUE(contains(said.output, "rms_norm_eps=1e-06, rope_theta=500000")) << said.output;
  const auto base = train({"--checkpoint", parts, "--resume", "--steps", "9"});
  EXPECT_EQ(base.exit_code, 0) << base.output;
  // On a mesh, with the same options.
  const auto folder = in_folder("mesh");
  const auto on_mesh =
      train({"--mesh", "tp=2", "--steps", "3", "--checkpoint", folder, "--export", in_folder("m")});
  ASSERT_EQ(on_mesh.exit_code, 0) << on_mesh.output;
  ASSERT_EQ(
      train({"--mesh", "pp=2", "--steps", "0", "--checkpoint", folder, "--export", in_folder("n")}).exit_code,
      0);
  expect_same(in_folder("m"), in_folder("n"));
  const auto wrong = run(tiny({"--mesh", "tp=2", "--checkpoint", folder, "--resume"}));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.output, "is from a run with kv_heads = 2, but this run has 0")) << wrong.output;
  const auto verified = train({"--mesh", "fsdp=2,tp=2", "--verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

}  // namespace
