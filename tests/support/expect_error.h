// Assertions about dist::Error and about the environment a test runs in.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "dist/core/error.h"

namespace dist::test {

// Calls f, which must throw Error{code} with all these parts in its text; returns the text.
template <class F>
std::string expect_error(Errc code, std::initializer_list<std::string> parts, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(name(error.code()), name(code)) << text;
    for (const auto& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
    }
    return text;
  }
  ADD_FAILURE() << "no error was thrown; expected " << name(code);
  return {};
}

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
