// Assertions about dist::Error and about the environment a test runs in.
#pragma once

#include <cstdlib>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/error.h"

namespace dist::test {

// Calls f, which must throw Error{code} with all these parts in its text, one line; returns the text.
template <class F>
std::string expect_error(Errc code, const std::vector<std::string>& parts, F&& f,
                         std::source_location caller = std::source_location::current()) {
  // No ScopedTrace: virtual ranks change in the middle of f, and GoogleTest has one stack of traces per
  // thread.
  const auto at = "\nexpected at " + std::string(caller.file_name()) + ':' + std::to_string(caller.line());
  try {
    f();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(name(error.code()), name(code)) << text << at;
    for (const auto& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text << at;
    }
    EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text << at;
    return text;
  }
  ADD_FAILURE() << "no error was thrown; expected " << name(code) << at;
  return {};
}

// The same for one statement.
#define EXPECT_DIST_ERROR(statement, code, part) ::dist::test::expect_error(code, {part}, [&] { statement; })

// Sets an environment variable while it lives. Not while other threads run.
class ScopedEnv {
 public:
  ScopedEnv(const char* variable, const std::string& value) : variable_(variable) {
    if (const char* before = std::getenv(variable)) before_ = before;
    setenv(variable, value.c_str(), 1);
  }
  ~ScopedEnv() { before_ ? setenv(variable_, before_->c_str(), 1) : unsetenv(variable_); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  const char* variable_;
  std::optional<std::string> before_;
};

}  // namespace dist::test
