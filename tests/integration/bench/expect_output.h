// What a benchmark's output must say.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "distlab/process.h"

inline void expect_output(const distlab::ProcessResult& result, int exit_code, const std::string& words) {
  EXPECT_EQ(result.exit_code, exit_code) << result.output;
  EXPECT_NE(result.output.find(words), std::string::npos) << words << " is not in:\n" << result.output;
}
