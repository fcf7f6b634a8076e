// EXPECT_DIST_ERROR(statement, Errc::x, "part of the message"): throws Error with this code, and says so.
#pragma once

#include <gtest/gtest.h>

#include "dist/core/error.h"

#define EXPECT_DIST_ERROR(statement, expected_code, part)                                          \
  try {                                                                                            \
    statement;                                                                                     \
    ADD_FAILURE() << #statement << " did not throw";                                               \
  } catch (const dist::Error& error) {                                                             \
    EXPECT_EQ(name(error.code()), name(expected_code)) << error.what();                            \
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)                             \
        << "\"" << error.what() << "\" does not mention \"" << (part) << "\"";                     \
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "a message is one line"; \
  }
