// What the tests of `distlab train` share: a folder for the files of a run, and the run itself.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "distlab/process.h"
#include "integration/launchers/run_program.h"

namespace train_test {

using Arguments = std::vector<std::string>;

class RunTrain : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "distlab-train-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Arguments under_distrun(const Arguments& command) {
    Arguments all{DISTRUN_PROGRAM, "--nproc-per-node", "2"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  static Arguments with_environment(const std::string& variable, Arguments command) {
    command.insert(command.begin(), {"env", variable});
    return command;
  }
  static distlab::ProcessResult run(const Arguments& arguments) { return distlab::run_captured(arguments); }
  static std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }
  std::string in_folder(const std::string& name) const { return folder_ / name; }

  std::filesystem::path folder_;
};

}  // namespace train_test
