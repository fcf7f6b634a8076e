#include "dist/core/log.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "dist/core/rank_label.h"

namespace dist {

namespace {

constexpr std::array<std::string_view, 4> level_names{"error", "warn", "info", "debug"};

LogLevel level_from_environment() {
  const char* text = std::getenv("DIST_LOG");
  if (text == nullptr || *text == '\0') return LogLevel::warn;
  for (std::size_t i = 0; i < level_names.size(); ++i)
    if (level_names[i] == text) return static_cast<LogLevel>(i);
  log_line(LogLevel::warn, fmt::format("DIST_LOG={} is not error, warn, info or debug; using warn", text));
  return LogLevel::warn;
}

}  // namespace

bool log_enabled(LogLevel level) {
  static const LogLevel limit = level_from_environment();
  return level <= limit;
}

void log_line(LogLevel level, std::string_view text) {
  const int rank = current_rank_label();
  const std::string who = rank < 0 ? "" : fmt::format(" rank {}", rank);
  const std::string line =
      fmt::format("[distlab {}{}] {}\n", level_names[static_cast<std::size_t>(level)], who, text);
  std::fwrite(line.data(), 1, line.size(), stderr);  // stderr is unbuffered: one write, so lines do not mix
}

}  // namespace dist
