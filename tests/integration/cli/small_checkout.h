// A checkout of our own with one lab, in which the program distlab works.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "distlab/process.h"

class SmallCheckout : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "distlab-files-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
    write("CMakePresets.json", "{}");
    write("lib/dist/dist.h", "");
    write("labs/01_first/README.md", "# Lab 01: the first\n");
    write(file, "// what to write\nint f() { DIST_TODO(\"lab 01, part 1: f\"); }\n");
    write("solutions/01_first/first.cpp", "int f() { return 4; }\n");
    sh("mkdir -p tests/grading build && sha256sum " + file + " > tests/grading/starters.sha256");
    sh("git init -q && git add -A && git -c user.name=t -c user.email=t@t commit -qm start");
    setenv("DISTLAB_ROOT", root.c_str(), 1);
    setenv("DISTLAB_BUILD", (root / "build").c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(root);
    unsetenv("DISTLAB_ROOT");
    unsetenv("DISTLAB_BUILD");
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  std::string read(const std::string& path) {
    std::ifstream text(root / path);
    return {std::istreambuf_iterator<char>(text), {}};
  }
  void sh(const std::string& command) {
    ASSERT_EQ(distlab::run_captured({"sh", "-c", "cd " + root.string() + " && " + command}).exit_code, 0)
        << command;
  }
  // Its output, when it ends so.
  std::string run(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), DISTLAB_PROGRAM);
    const auto result = distlab::run_captured(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    return result.output;
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  const std::string file = "labs/01_first/first.cpp";
  std::filesystem::path root;
};
