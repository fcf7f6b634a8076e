// EXPECT for errors: the code, and every part that the one line must contain.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "dist/core/error.h"

namespace dist::test {

template <class F>
std::string expect_error(Errc code, std::initializer_list<std::string_view> parts, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(name(error.code()), name(code)) << text;
    for (auto part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
    return text;
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace dist::test
