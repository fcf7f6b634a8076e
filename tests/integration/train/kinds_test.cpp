// A run without a mesh writes a file, a run on a mesh a folder: each continues from the other's checkpoint as
// if it had written it, and keeps its kind; texts are written from both.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/nn/safetensors.h"

#include "integration/train/run_train.h"

namespace {

using train_test::Arguments;
namespace fs = std::filesystem;
namespace nn = dist::nn;

class TrainKinds : public train_test::RunTrain {
 protected:
  void SetUp() override {
    RunTrain::SetUp();
    text_ = in_folder("text.txt");
    std::ofstream out(text_);
    for (int i = 0; i < 100; ++i) out << "line " << i << " of a text to learn\n";
  }
  // A step has four rows of a batch, on one rank or on two.
  distlab::ProcessResult train(const std::string& mesh, const std::string& checkpoint, int steps,
                               const Arguments& more = {}) const {
    Arguments all{DISTLAB_PROGRAM, "train",    "--model",      "gpt",
                  "--layers",      "2",        "--heads",      "2",
                  "--width",       "16",       "--context",    "16",
                  "--data",        text_,      "--steps",      std::to_string(steps),
                  "--decay-steps", "9",        "--eval-every", "3",
                  "--checkpoint",  checkpoint, "--resume"};
    const Arguments rows =
        mesh.empty() ? Arguments{"--nproc", "1", "--batch", "4"}
                     : Arguments{"--mesh", mesh, "--batch", mesh == "tp=2" || mesh == "pp=2" ? "4" : "2"};
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  nn::StateDict weights_of(const std::string& checkpoint) const {
    const std::string out = in_folder("weights.safetensors");
    const auto said = run({DISTLAB_PROGRAM, "train", "--model", "gpt", "--steps", "0", "--checkpoint",
                           checkpoint, "--export", out});
    EXPECT_EQ(said.exit_code, 0) << said.output;
    return nn::load_safetensors(out);
  }
  void expect_equal(const nn::StateDict& one, const nn::StateDict& other) const {
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [name, tensor] : one) {
      const auto a = tensor.to_vector<float>(), b = nn::find(other, name)->to_vector<float>();
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << name << " at " << i;
    }
  }

  static std::vector<double> in_f64(const dist::Tensor& tensor) {
    return tensor.to(dist::DType::f64).to_vector<double>();
  }

  std::string text_;
};

TEST_F(TrainKinds, EachContinuesFromTheOther) {
  const std::string whole = in_folder("whole"), file = in_folder("file"), folder = in_folder("folder");
  ASSERT_EQ(train("", whole, 9).exit_code, 0);
  const nn::StateDict expected = weights_of(whole);
  ASSERT_EQ(train("", file, 3).exit_code, 0);
  ASSERT_EQ(train("fsdp=2", folder, 3).exit_code, 0);
  // One rank, then two meshes and one rank again; and the other way round.
  for (const auto& [mesh, steps] : {std::pair{"tp=2", 5}, {"pp=2", 7}, {"", 9}}) {
    const auto said = train(mesh, file, steps);
    ASSERT_EQ(said.exit_code, 0) << mesh << said.output;
    EXPECT_TRUE(contains(said.output, "continuing after step ")) << said.output;
    EXPECT_TRUE(fs::is_regular_file(file) && !fs::exists(file + ".parts"));
  }
  for (const auto& [mesh, steps] : {std::pair{"", 5}, {"tp=2", 7}, {"", 9}}) {
    const auto said = train(mesh, folder, steps);
    ASSERT_EQ(said.exit_code, 0) << mesh << said.output;
    EXPECT_TRUE(contains(said.output, "continuing after step ")) << said.output;
    EXPECT_TRUE(fs::is_directory(folder));
  }
  expect_equal(weights_of(file), expected);
  expect_equal(weights_of(folder), expected);
}

// With a learning rate that changes no weight, a step keeps the master weights bit for bit, whoever takes it,
// and moves the averages of the gradients alike, as far as bf16 computes alike.
TEST_F(TrainKinds, InBf16EachKeepsTheMasterWeightsOfTheOther) {
  const Arguments bf16{"--dtype", "bf16"}, still{"--dtype", "bf16", "--lr", "1e-30"};
  const std::string file = in_folder("file"), folder = in_folder("folder"), copy = in_folder("copy"),
                    again = in_folder("again");
  ASSERT_EQ(train("", file, 4, bf16).exit_code, 0);
  ASSERT_EQ(train("pp=2", folder, 4, bf16).exit_code, 0);
  const nn::StateDict before = nn::load_safetensors(file);
  fs::copy(file, again);
  ASSERT_EQ(train("", again, 5, still).exit_code, 0);
  const nn::StateDict expected = nn::load_safetensors(again);
  for (const char* const mesh : {"dp=2", "fsdp=2", "tp=2", "pp=2"}) {
    fs::copy(file, copy);
    const auto said = train(mesh, copy, 5, still);
    ASSERT_EQ(said.exit_code, 0) << mesh << said.output;
    EXPECT_TRUE(contains(said.output, "continuing after step 4")) << said.output;
    const nn::StateDict after = nn::load_safetensors(copy);
    int masters = 0, averages = 0;
    for (const auto& [name, tensor] : expected) {
      const auto* const found = nn::find(after, name);
      ASSERT_TRUE(found) << mesh << name;
      const auto one = in_f64(tensor), other = in_f64(*found);
      if (name.ends_with(".master_param") || name.starts_with("model.")) {
        EXPECT_EQ(one, other) << mesh << name;
        EXPECT_EQ(in_f64(*nn::find(before, name)), other) << mesh << name;
        ++masters;
      } else if (name.ends_with(".exp_avg")) {
        double most = 0, apart = 0;
        for (std::size_t i = 0; i < one.size(); ++i) {
          most = std::max(most, std::abs(one[i]));
          apart = std::max(apart, std::abs(one[i] - other[i]));
        }
        EXPECT_LE(apart, most / 64) << mesh << name;
        ++averages;
      }
    }
    EXPECT_GT(masters, 20);
    EXPECT_GT(averages, 10);
    fs::remove(copy);
  }
  const nn::StateDict of_mesh = weights_of(folder);
  const auto said = train("", folder, 5, still);
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "continuing after step 4")) << said.output;
  const nn::StateDict of_rank = weights_of(folder);
  ASSERT_EQ(of_rank.size(), of_mesh.size());
  for (const auto& [name, tensor] : of_mesh)
    EXPECT_EQ(tensor.to_vector<float>(), nn::find(of_rank, name)->to_vector<float>()) << name;
  const auto on = train("tp=2", folder, 6, bf16);
  EXPECT_EQ(on.exit_code, 0) << on.output;
}

TEST_F(TrainKinds, TextsAreWrittenFromBothWithoutTheData) {
  const std::string file = in_folder("file"), folder = in_folder("folder");
  ASSERT_EQ(train("", file, 3).exit_code, 0);
  ASSERT_EQ(train("dp=2", folder, 3).exit_code, 0);
  fs::remove(text_);
  std::vector<std::string> texts;
  for (const std::string& checkpoint : {file, folder}) {
    const auto said = run({DISTLAB_PROGRAM, "train", "--model", "gpt", "--steps", "0", "--checkpoint",
                           checkpoint, "--sample", "line", "--sample-length", "20", "--temperature", "0"});
    EXPECT_EQ(said.exit_code, 0) << said.output;
    texts.push_back(said.output);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(TrainKinds, WhatDoesNotFitIsRefusedAndLosesNothing) {
  const std::string file = in_folder("file"), folder = in_folder("folder");
  ASSERT_EQ(train("", file, 3).exit_code, 0);
  ASSERT_EQ(train("dp=2", folder, 3, {"--dtype", "bf16"}).exit_code, 0);
  const std::string before = content(file);
  const auto refused = [&](const distlab::ProcessResult& said, const std::string& words) {
    EXPECT_NE(said.exit_code, 0);
    EXPECT_TRUE(contains(said.output, words)) << said.output;
  };
  refused(train("", folder, 5),
          "is from a run in bf16, but this run is in f32; to resume, take --dtype bf16");
  refused(train("dp=2", file, 5, {"--dtype", "bf16"}),
          "is from a run in f32, but this run is in bf16; to resume, take --dtype f32");
  fs::create_directories(file + ".parts");
  std::ofstream(file + ".parts/mine") << "kept";
  refused(train("dp=2", file, 5), "is in the way, with \"mine\" in it; move it away");
  EXPECT_EQ(content(file + ".parts/mine"), "kept");
  const std::string fresh = in_folder("fresh"), same = in_folder("./fresh");
  refused(train("", fresh, 3, {"--export", same}), "--export and --checkpoint name the same file");
  refused(train("", fresh, 3, {"--export", text_}), "--export and --data name the same file");
  refused(train("dp=2", file, 5, {"--seed", "5"}), "is from a run with seed = 0, but this run has 5");
  EXPECT_EQ(content(file), before);
}

}  // namespace
