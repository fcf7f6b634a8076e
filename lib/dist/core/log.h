// Log lines. DIST_LOG=error|warn|info|debug (default warn) chooses them; they go to stderr, one line each,
// with the rank if there is one.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dist {

enum class LogLevel { error, warn, info, debug };

bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace dist
