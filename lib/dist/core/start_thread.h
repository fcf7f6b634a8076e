// Starts a thread; if that fails, the error names the limit on threads.
#pragma once

#include <cerrno>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/limits.h"

namespace dist {

// Returns std::thread(fn), whose work is `what`. Throws Error{resource} if the system provides none.
template <class F>
std::thread start_thread(std::string_view what, F&& fn) {
  try {
    return std::thread(std::forward<F>(fn));
  } catch (const std::system_error& error) {
    fail(Errc::resource, "no thread for {}: {}{}", what, error.what(), limit_behind(EAGAIN));
  }
}

}  // namespace dist
