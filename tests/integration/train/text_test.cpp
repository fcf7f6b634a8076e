// distlab train --model gpt: a small GPT learns the handouts in a second or two.
#include "dist/data/text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "dist/nn/safetensors.h"

#include "distlab/train/text/generate.h"
#include "integration/train/run_train.h"

namespace {

using train_test::Arguments;

class TrainText : public train_test::RunTrain {
 protected:
  // A run of a second, except where `more` says otherwise; it holds options with their values.
  static Arguments small(const Arguments& more) {
    Arguments all{DISTLAB_PROGRAM, "train", "--model", "gpt"};
    const Arguments usual{"--nproc",   "1",  "--layers", "1", "--heads", "2",  "--width",      "32",
                          "--context", "16", "--batch",  "8", "--steps", "12", "--eval-every", "6"};
    for (std::size_t i = 0; i < usual.size(); i += 2) {
      if (std::ranges::find(more, usual[i]) == more.end()) all.insert(all.end(), {usual[i], usual[i + 1]});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

// "step 6 of 12: loss 4.1, validation loss 4.0, ...": 4.1 and 4.0 of each validation.
std::vector<double> losses_of(const std::string& output) {
  std::vector<double> losses;
  const std::regex said("step [0-9]+ of [0-9]+: loss ([0-9.]+), validation loss ([0-9.]+),");
  for (std::sregex_iterator found(output.begin(), output.end(), said), end; found != end; ++found)
    losses.insert(losses.end(), {std::stod((*found)[1]), std::stod((*found)[2])});
  return losses;
}

TEST_F(TrainText, LearnsAndWrites) {
  const auto said =
      run(small({"--steps", "80", "--eval-every", "40", "--sample", "A rank ", "--sample-length", "50"}));
  ASSERT_EQ(said.exit_code, 0) << said.output;
  const auto losses = losses_of(said.output);
  ASSERT_EQ(losses.size(), 4U) << said.output;
  EXPECT_LT(losses[2], losses[0]);
  EXPECT_LT(losses[3], losses[1]);
  EXPECT_LT(losses[3], 3.6) << "guessing: " << std::log(92);
  for (const char* part :
       {"GPT(1 layer, 2 heads, width 32, context 16)", " lr ", " tokens/s, ", " MiB", "update"})
    EXPECT_TRUE(contains(said.output, part)) << said.output;
  const auto sample = said.output.find("\nA rank ");
  ASSERT_NE(sample, said.output.npos) << said.output;
  EXPECT_EQ(said.output.size() - sample, 1 + 7 + 50 + 1U) << said.output;
}

TEST_F(TrainText, AResumedRunEndsWithTheSameBits) {
  for (const char* ranks : {"1", "2"}) {
    const auto whole = in_folder(std::string("whole") + ranks),
               parts = in_folder(std::string("parts") + ranks);
    const auto run_to = [&](const std::string& steps, const std::string& file) {
      return run(small({"--nproc", ranks, "--dropout", "0.1", "--steps", steps, "--decay-steps", "12",
                        "--checkpoint", file, "--resume"}));
    };
    EXPECT_EQ(run_to("12", whole).exit_code, 0);
    EXPECT_EQ(run_to("5", parts).exit_code, 0);
    EXPECT_NE(content(parts), content(whole));
    const auto resumed = run_to("12", parts);
    EXPECT_TRUE(contains(resumed.output, "continuing after step 5")) << resumed.output;
    EXPECT_GT(content(whole).size(), 10'000U);
    EXPECT_TRUE(content(parts) == content(whole)) << ranks << " ranks";
    EXPECT_TRUE(contains(run_to("12", parts).output, "step 12 is done already; to train longer: --steps 18"));
  }
  const auto other = run(small({"--checkpoint", in_folder("whole1"), "--resume", "--untied"}));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.output, "is from a run with tied = 1, but this run has 0")) << other.output;
}

// This holds with dropout, too: its masks belong to the rows of the whole batch.
TEST_F(TrainText, RanksTogetherTrainAsOneRankDoes) {
  const auto losses = [&](const Arguments& more) {
    Arguments all{"--dropout", "0.1"};
    all.insert(all.end(), more.begin(), more.end());
    const auto said = run(small(all));
    EXPECT_EQ(said.exit_code, 0) << said.output;
    return losses_of(said.output);
  };
  const auto one = losses({"--batch", "8"});
  ASSERT_EQ(one.size(), 4U);
  for (const auto& several : {losses({"--nproc", "2", "--batch", "4"}), losses({"--scheme", "single"})}) {
    ASSERT_EQ(several.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(several[i], one[i], 2e-4) << i;
  }
}

TEST_F(TrainText, LearnsInBf16AndResumesWithTheSameBits) {
  const auto whole = run(small({"--dtype", "bf16", "--checkpoint", in_folder("whole")}));
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const auto losses = losses_of(whole.output), in_f32 = losses_of(run(small({})).output);
  ASSERT_EQ(losses.size(), in_f32.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i] / in_f32[i], 1, 0.01) << i;
  const Arguments half{"--dtype", "bf16", "--decay-steps", "12", "--checkpoint", in_folder("half")};
  auto begin = half, rest = half;
  begin.insert(begin.end(), {"--steps", "6"});
  rest.insert(rest.end(), {"--resume", "--sample", "A", "--sample-length", "5"});
  ASSERT_EQ(run(small(begin)).exit_code, 0);
  const auto other = run(small({"--resume", "--checkpoint", in_folder("half")}));
  EXPECT_TRUE(
      contains(other.output, "is from a run in bf16, but this run is in f32; to resume, take --dtype bf16"))
      << other.output;
  const auto said = run(small(rest));
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(content(in_folder("half")) == content(in_folder("whole")));
  const auto alone = run({DISTLAB_PROGRAM, "train", "--model", "gpt", "--steps", "0", "--sample", "A",
                          "--sample-length", "5", "--checkpoint", in_folder("half")});
  EXPECT_TRUE(said.output.ends_with("\n" + alone.output)) << said.output << alone.output;
}

// Rank 2 beside four layers of width 32: 2 (32 + 96) + 2 (32 + 32) + 2 (2 (32 + 128)).
TEST_F(TrainText, LoraAdaptsTheModelOfAFile) {
  const auto base = in_folder("base"), whole = in_folder("whole"), parts = in_folder("parts");
  ASSERT_EQ(run(small({"--checkpoint", base})).exit_code, 0);
  const auto adapt = [&](Arguments more, const std::string& file) {
    const Arguments lora{"--lora", "2", "--from", base, "--checkpoint", file, "--decay-steps", "12"};
    Arguments all{DISTLAB_PROGRAM, "train", "--model", "gpt", "--batch", "4", "--eval-every", "6"};
    all.insert(all.end(), lora.begin(), lora.end());
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto said = adapt({"--nproc", "2", "--steps", "12"}, whole);
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "training 1024 of ")) << said.output;
  EXPECT_TRUE(contains(said.output, "parameters: LoRA of rank 2 beside the model of " + base)) << said.output;
  // Only the matrices have changed, and only they have state.
  const auto before = dist::nn::load_safetensors(base), after = dist::nn::load_safetensors(whole);
  std::size_t adapted = 0, states = 0;
  for (const auto& [name, tensor] : after) {
    if (name.starts_with("optimizer.") && name.ends_with(".exp_avg")) ++states;
    if (!name.starts_with("model.")) continue;
    const auto* const old = dist::nn::find(before, name);
    ASSERT_EQ(old == nullptr, name.find(".lora_") != name.npos) << name;
    if (old) {
      EXPECT_TRUE(equal(tensor, *old)) << name;
    } else {
      EXPECT_FALSE(equal(tensor, zeros_like(tensor))) << name;
      ++adapted;
    }
  }
  EXPECT_EQ(adapted, 8U);
  EXPECT_EQ(states, 8U);
  // Resumed, it ends with the same bits, without the file that it began with.
  ASSERT_EQ(adapt({"--nproc", "2", "--steps", "6"}, parts).exit_code, 0);
  std::filesystem::rename(base, in_folder("elsewhere"));
  const auto resumed =
      adapt({"--nproc", "2", "--steps", "12", "--resume", "--sample", "A", "--sample-length", "5"}, parts);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_TRUE(content(parts) == content(whole));
  std::filesystem::rename(in_folder("elsewhere"), base);
  const auto alone = run({DISTLAB_PROGRAM, "train", "--model", "gpt", "--steps", "0", "--sample", "A",
                          "--sample-length", "5", "--checkpoint", parts});
  EXPECT_TRUE(resumed.output.ends_with("\n" + alone.output)) << resumed.output << alone.output;
  const auto refused = [&](const Arguments& more, const std::string& words, int code = 2) {
    Arguments all{DISTLAB_PROGRAM, "train", "--model", "gpt", "--nproc", "1"};
    all.insert(all.end(), more.begin(), more.end());
    const auto answer = run(all);
    EXPECT_EQ(answer.exit_code, code) << answer.output;
    EXPECT_TRUE(contains(answer.output, words)) << answer.output;
  };
  refused({"--lora", "2"}, "--lora adapts a model that is trained already; add --from FILE");
  refused({"--lora", "2", "--from", whole}, whole + " is from a run with --lora; --from takes");
  refused({"--lora", "2", "--from", base, "--width", "64"},
          "--width is 64, but " + base + " has a model of 32; leave the option out");
  refused({"--lora", "2", "--from", base, "--mesh", "dp=1"}, "leave out --mesh");
  refused({"--lora", "2", "--from", in_folder("none")}, "none", 3);
  refused({"--lora", "4", "--from", base, "--resume", "--checkpoint", parts},
          "is from a run with lora = 2, but this run has 4; to resume, take the same value", 1);
  refused({"--resume", "--checkpoint", parts, "--layers", "1", "--heads", "2", "--width", "32", "--context",
           "16"},
          "is from a run with lora = 2, but this run has 0", 1);
}

TEST_F(TrainText, WritesALineOfJsonForEachStepAndEvaluation) {
  const auto log = in_folder("log.jsonl"), checkpoint = in_folder("gpt");
  const auto said =
      run(small({"--nproc", "2", "--log", log, "--checkpoint", checkpoint, "--peak-flops", "4e9"}));
  ASSERT_EQ(said.exit_code, 0);
  EXPECT_TRUE(std::regex_search(said.output, std::regex("[0-9.]+ [MG]FLOP/s, MFU [0-9.]+ %"))) << said.output;
  const auto lines_of = [&] {
    std::vector<nlohmann::json> lines;
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  };
  const auto first = lines_of();
  ASSERT_EQ(first.size(), 12U + 2U);
  for (const char* name :
       {"step", "loss", "lr", "grad_norm", "tokens_per_s", "flops_per_s", "mfu", "seconds", "memory_mib"})
    EXPECT_TRUE(first[0].at(name).is_number()) << name;
  const double flops = first[0].at("flops_per_s").get<double>(), width = 32, context = 16, tokens = 92;
  const double of_a_token = 6 * (12 * width * width + tokens * width) + 12 * width * context;
  EXPECT_NEAR(flops, of_a_token * first[0].at("tokens_per_s").get<double>(), 1e-6 * flops);
  EXPECT_NEAR(first[0].at("mfu").get<double>(), flops / (2 * 4e9), 1e-8 * flops / 8e9) << "two ranks";
  EXPECT_EQ(first[0].at("step"), 1);
  EXPECT_EQ(first.back().at("step"), 12);
  EXPECT_TRUE(first.back().at("validation_loss").is_number());
  ASSERT_EQ(
      run(small({"--nproc", "2", "--log", log, "--checkpoint", checkpoint, "--resume", "--steps", "13"}))
          .exit_code,
      0);
  EXPECT_EQ(lines_of().size(), 14U + 2U) << "those of the resumed run come after them";
  const auto refused = run(small({"--log", in_folder("none") + "/x/y"}));
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_TRUE(contains(refused.output, "--log")) << refused.output;
}

TEST_F(TrainText, WritesFromACheckpointAlone) {
  const auto file = in_folder("gpt");
  const Arguments how{"--sample", "All ", "--sample-length", "30", "--top-k", "5", "--checkpoint", file};
  const auto with = [&](Arguments more) {
    more.insert(more.end(), how.begin(), how.end());
    return more;
  };
  for (const char* tokens : {"chars", "bytes"}) {
    const auto trained = run(small(with({"--tokens", tokens})));
    ASSERT_EQ(trained.exit_code, 0) << trained.output;
    Arguments alone{DISTLAB_PROGRAM, "train", "--model", "gpt", "--steps", "0"};
    alone.insert(alone.end(), how.begin(), how.end());
    const auto said = run(alone);
    EXPECT_EQ(said.exit_code, 0) << said.output;
    EXPECT_TRUE(said.output.starts_with("All ")) << said.output;
    EXPECT_TRUE(trained.output.ends_with("\n" + said.output)) << trained.output << said.output;
  }
  const auto images = in_folder("convnet");
  ASSERT_EQ(run({DISTLAB_PROGRAM, "train", "--nproc", "1", "--samples", "32", "--test-samples", "16",
                 "--epochs", "1", "--checkpoint", images})
                .exit_code,
            0);
  const auto wrong = run(
      {DISTLAB_PROGRAM, "train", "--model", "gpt", "--steps", "0", "--sample", "A", "--checkpoint", images});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.output, "is not a checkpoint of such a run, because it has no "))
      << wrong.output;
}

TEST_F(TrainText, WhatMakesNoSenseIsOneLineBeforeAnyRankStarts) {
  const auto refused = [&](const Arguments& more, const std::string& words, int code = 2) {
    const auto said = run(small(more));
    EXPECT_EQ(said.exit_code, code) << said.output;
    EXPECT_TRUE(contains(said.output, words)) << said.output;
    EXPECT_FALSE(contains(said.output, "rank 0")) << said.output;
  };
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return in_folder(name);
  };
  refused({"--data", in_folder("none")}, "cannot read the text " + in_folder("none") + ": No such file", 3);
  refused({"--data", file("latin1", "caf\xe9 ole")}, "latin1 is not UTF-8: byte 3 (0xe9)");
  refused(
      {"--data", file("short", std::string(150, 'x'))},
      "the validation part (the last tenth) of " + in_folder("short") + " has 15 tokens, but a block has 17");
  const auto pipe = in_folder("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  refused({"--data", pipe}, "the text " + pipe + " is a pipe, but it is read more than once");
  refused({"--data", "/dev/zero"}, "the text /dev/zero is a device; name a file");
  refused({"--sample", "na\xc3\xafve \xe2\x82\xac"},
          "the prompt has characters that are not in the vocabulary: \"\xc3\xaf\", \"\xe2\x82\xac\"");
  refused({"--sample", ""}, "--sample needs a prompt");
  refused({"--steps", "0", "--sample", "A"}, "add --checkpoint FILE and --sample PROMPT");
  refused({"--heads", "5"}, "--heads 5 does not divide --width 32");
  for (const char* option : {"--batch", "--width", "--layers", "--context"})
    refused({option, "9223372036854775807"}, " takes a number from 1 to ");
  refused({"--dropout", "1"}, "--dropout is 1; it must be 0 or greater and less than 1");
  refused({"--momentum", "0.5"}, "--momentum is an option of --model convnet, not of --model gpt");
  refused({"--scheme", "ps"}, "--scheme ps is for the ConvNet; with --model gpt choose ddp or single");
  const auto images = run({DISTLAB_PROGRAM, "train", "--untied"});
  EXPECT_EQ(images.exit_code, 2);
  EXPECT_TRUE(contains(images.output, "--tied is an option of --model gpt, not of --model convnet"))
      << images.output;
}

TEST_F(TrainText, WhatEditorsLeaveInATextIsSaid) {
  const auto text = in_folder("text"), plain = in_folder("plain");
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "a line of it\r\n";
  std::ofstream(text) << "\xEF\xBB\xBF" << lines;
  std::erase(lines, '\r');
  std::ofstream(plain) << lines;
  for (const char* const tokens : {"chars", "bytes"}) {
    const auto said = run(small({"--steps", "1", "--tokens", tokens, "--data", text}));
    EXPECT_EQ(said.exit_code, 0) << said.output;
    EXPECT_TRUE(contains(said.output, text +
                                          " begins with a byte order mark and has 50 carriage returns at the "
                                          "ends of lines, and the model learns to write that too"))
        << said.output;
    EXPECT_FALSE(
        contains(run(small({"--steps", "1", "--tokens", tokens, "--data", plain})).output, "learns to"));
  }
  ASSERT_EQ(std::system(fmt::format("sed -i '1s/^\\xEF\\xBB\\xBF//; s/\\r$//' {}", text).c_str()), 0);
  EXPECT_EQ(content(text), content(plain)) << "the command that it recommends";
}

// A text is never in memory as a whole: its tokens take a byte each, and the order of its blocks nothing.
TEST_F(TrainText, ALargeTextTakesLittleMemory) {
  const auto text = in_folder("text"), log = in_folder("log");
  constexpr std::size_t mebi = 1 << 20, size = 32 * mebi;
  std::string lines;
  for (int i = 0; lines.size() < size; ++i) lines += fmt::format("line {} of a long text\n", i);
  std::ofstream(text) << lines;
  const auto said = run(small({"--steps", "1", "--width", "8", "--heads", "1", "--context", "64", "--batch",
                               "64", "--data", text, "--log", log}));
  ASSERT_EQ(said.exit_code, 0) << said.output;
  std::ifstream in(log);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_LT(nlohmann::json::parse(line).at("memory_mib").get<double>(), 3. * size / mebi) << line;
}

// A model of bytes that has learnt nothing writes bytes that are not UTF-8, and those that terminals obey.
TEST_F(TrainText, BytesThatAreNoTextAreWrittenAsNumbers) {
  const auto said = run(small({"--steps", "1", "--tokens", "bytes", "--sample", "A rank", "--sample-length",
                               "400", "--temperature", "5"}));
  ASSERT_EQ(said.exit_code, 0) << said.output;
  const auto at = said.output.find("\nA rank");
  ASSERT_NE(at, said.output.npos) << said.output;
  const auto sample = said.output.substr(at);
  EXPECT_TRUE(std::regex_search(sample, std::regex(R"(\\x[89a-f][0-9a-f])"))) << sample;
  EXPECT_TRUE(std::regex_search(sample, std::regex(R"(\\x[01][0-9a-f])"))) << sample;
  for (const char byte : sample) EXPECT_TRUE(byte < 0 || byte >= ' ' || byte == '\n' || byte == '\t');
  EXPECT_NO_THROW((void)dist::data::Vocabulary::of_chars(sample, "the sample")) << "it is UTF-8";
}

TEST_F(TrainText, ALossThatIsNoNumberIsReportedWithItsLayer) {
  const auto said = run(small({"--lr", "1e30", "--nproc", "2"}));
  EXPECT_EQ(said.exit_code, 1) << said.output;
  EXPECT_TRUE(std::regex_search(
      said.output,
      std::regex("the loss of rank [01] at step [0-9]+ is (nan|inf); the first layer whose output is "
                 "not finite is transformer\\.[a-z_.0-9]+ \\([A-Z][A-Za-z]+\\(")))
      << said.output;
}

TEST(DrawToken, FollowsTheProbabilities) {
  const std::vector<float> logits{0, std::log(2.0F), std::log(5.0F)};  // 1/8, 2/8, 5/8
  const auto draw = [&](double random, distlab::Sampling sampling = {}) {
    return distlab::draw_token(logits, sampling, random);
  };
  EXPECT_EQ(draw(0), 2);  // the most probable one comes first
  EXPECT_EQ(draw(0.62), 2);
  EXPECT_EQ(draw(0.63), 1);
  EXPECT_EQ(draw(0.87), 1);
  EXPECT_EQ(draw(0.88), 0);
  EXPECT_EQ(draw(0.99, {.temperature = 0}), 2);
  EXPECT_EQ(draw(0.99, {.top_k = 1}), 2);
  EXPECT_EQ(draw(0.99, {.top_k = 2}), 1);
  EXPECT_EQ(draw(0.97, {.temperature = 0.5}), 0);  // 1/30, 4/30, 25/30
  EXPECT_EQ(draw(0.96, {.temperature = 0.5}), 1);
  EXPECT_EQ(draw(0.83, {.temperature = 0.5}), 2);
}

}  // namespace
