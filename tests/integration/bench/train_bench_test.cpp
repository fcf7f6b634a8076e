// `distlab bench train` as a person uses it, with as little to measure as possible.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/process.h"
#include "distlab/temporary_folder.h"
#include "expect_output.h"

namespace {

namespace fs = std::filesystem;
using distlab::ProcessResult;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

ProcessResult bench_train(const Words& more,
                          const std::string& environment = "DISTLAB_PYTHON=/usr/bin/python3") {
  Words words{"env", environment, DISTLAB_PROGRAM, "bench", "train"};
  const Words usual{"--batch-size", "2", "--iters", "2",  "--repeat",  "3", "--layers", "1",
                    "--heads",      "2", "--width", "16", "--context", "8"};
  for (std::size_t i = 0; i < usual.size(); i += 2)
    if (std::ranges::find(more, usual[i]) == more.end()) words.insert(words.end(), {usual[i], usual[i + 1]});
  words.insert(words.end(), more.begin(), more.end());
  return distlab::run_captured(words);
}

// A program instead of Python with torch, which answers each number of steps with `answer`, in which $turn
// counts from 1.
class TrainBench : public testing::Test {
 protected:
  std::string python_that_says(const std::string& answer) const {
    const fs::path file = folder_.path() / "python";
    std::ofstream(file) << "#!/bin/sh\ncase \"$2\" in\n'import torch'*) printf 'PyTorch 0.0' ;;\n"
                        << "*) turn=0; while read -r steps; do turn=$((turn + 1)); " << answer
                        << "; done ;;\nesac\n";
    fs::permissions(file, fs::perms::owner_all);
    return "DISTLAB_PYTHON=" + file.string();
  }
  static std::string figures(const std::string& loss) {
    return R"(echo '{"step_ms": 1000, "cpu_ms": 500, "loss": )" + loss +
           R"(, "peak_rss_bytes": 1e9, "blas": "libblas.so"}')";
  }
  const distlab::TemporaryFolder folder_{"train-bench-test"};
};

TEST_F(TrainBench, SaysWhatAStepCosts) {
  for (const char* dtype : {"f32", "bf16"}) {
    const auto said = bench_train({"--dtype", dtype});
    expect_output(said, 0, "   step ms    cpu ms    tokens/s   peak MiB\ndistlab");
    expect_output(said, 0, std::string("batch 2, ") + dtype + " on cpu, 1 thread;");
  }
  const auto said = bench_train({"--model", "convnet", "--threads", "2", "--json", "-"});
  ASSERT_EQ(said.exit_code, 0) << said.output;
  const Json figures = Json::parse(said.output);
  EXPECT_NEAR(figures["images_per_s"].get<double>(), 2000 / figures["step_ms"].get<double>(), 1e-3);
  EXPECT_GT(figures["peak_rss_bytes"].get<double>(), 1e6);
  EXPECT_GT(figures["cpu_ms"].get<double>(), 0);
  EXPECT_TRUE(figures["peer"].is_null() && figures["ratio"].is_null());
}

TEST_F(TrainBench, ComparesWithTheSystemsPyTorch) {
  if (distlab::run_captured({"/usr/bin/python3", "-c", "import torch"}).exit_code != 0)
    GTEST_SKIP() << "/usr/bin/python3 has no torch: apt-get install python3-torch";
  // 64 is the usual batch of the ConvNet, whose later losses differ.
  for (const auto& [model, batch] : {std::pair{"gpt", "2"}, {"convnet", "64"}}) {
    const auto said =
        bench_train({"--model", model, "--batch-size", batch, "--compare", "pytorch", "--json", "-"});
    ASSERT_EQ(said.exit_code, 0) << said.output;
    const Json figures = Json::parse(said.output.substr(said.output.find('{')));
    EXPECT_NEAR(figures["ratio"].get<double>(),
                figures["peer"]["step_ms"].get<double>() / figures["step_ms"].get<double>(), 1e-6);
  }
}

TEST_F(TrainBench, APeerThatComputesSomethingElseIsNotComparedWith) {
  expect_output(bench_train({"--compare", "pytorch"}, python_that_says(figures("99"))), 1,
                "in step 1 PyTorch's loss is 99, but ours is ");
  expect_output(bench_train({"--compare", "pytorch"}, python_that_says("echo hello")), 1,
                "PyTorch's process answered \"hello\"");
  expect_output(bench_train({"--compare", "pytorch"}, python_that_says("exit 1")), 1,
                "PyTorch's process has ended; its messages are above");
}

TEST_F(TrainBench, ShowsBothSidesAndTheirRatio) {
  // The losses of our first two steps are those that the peer must have; of later ones it may have others.
  const auto ours_of = [&](const std::string& answer) {
    const auto said = bench_train({"--compare", "pytorch"}, python_that_says(answer));
    const std::string before = "but ours is ";
    const auto at = said.output.find(before);
    EXPECT_NE(at, said.output.npos) << said.output;
    return said.output.substr(at + before.size(), said.output.find(':', at) - at - before.size());
  };
  const std::string first = ours_of(figures("99"));
  const auto then = [&](const std::string& second, const std::string& later) {
    return "case $turn in 1) " + figures(first) + " ;; 2) " + figures(second) + " ;; *) " + figures(later) +
           " ;; esac";
  };
  const std::string second = ours_of(then("99", "99"));
  EXPECT_NE(first, second);
  expect_output(bench_train({"--compare", "pytorch"}, python_that_says(then(first, second))), 1,
                "in step 2 PyTorch's loss is " + first);
  const auto said = bench_train({"--compare", "pytorch"}, python_that_says(then(second, "99")));
  expect_output(said, 0, "Measured alternately with PyTorch 0.0, which multiplies matrices by libblas.so.");
  expect_output(said, 0, "\nPyTorch 0.0        1000.00    500.00          16        954\nratio ");
}

TEST_F(TrainBench, RefusesInOneLine) {
  expect_output(bench_train({"--compare", "pytorch"}, "DISTLAB_PYTHON=/nowhere/python3"), 3,
                "/nowhere/python3 cannot import torch; apt-get install python3-torch");
  const Words odd_heads{DISTLAB_PROGRAM, "bench", "train", "--heads", "3", "--width", "16"};
  expect_output(distlab::run_captured(odd_heads), 2,
                "--heads 3 does not divide --width 16; choose a divisor");
  expect_output(bench_train({"--compare", "mpi"}), 2, "--compare");
}

}  // namespace
