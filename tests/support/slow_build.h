// Builds in which tests try less.
#pragma once

#include "dist/core/sanitizer.h"

namespace dist::test {

inline constexpr bool slow_build = built_with_asan || built_with_tsan;

}  // namespace dist::test
