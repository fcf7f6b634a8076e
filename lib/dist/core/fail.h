// Throwing with a formatted message: `fail(Errc::timeout, "rank {} waited {} ms", rank, ms)`.
#pragma once

#include <utility>

#include <fmt/format.h>

#include "dist/core/error.h"

namespace dist {

template <class... Args>
[[noreturn]] void fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// Like fail(), with ": <strerror>" appended for the given errno.
[[noreturn]] void fail_errno(Errc code, int error_number, std::string_view what);

}  // namespace dist
