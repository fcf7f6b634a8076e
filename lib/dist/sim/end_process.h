// end_process: ends what an exception cannot end: a stack that is used up, a rank that never yields.
#pragma once

#include <array>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace dist::sim {

inline constexpr int exit_hopeless = 70;  // EX_SOFTWARE of sysexits.h

// Writes "distlab: <text>" to standard error and ends the process at once. Async-signal-safe.
template <class... Args>
[[noreturn]] void end_process(fmt::format_string<Args...> format, Args&&... args) {
  std::array<char, 1024> line;
  char* end = fmt::format_to_n(line.data(), line.size() - 1, "distlab: ").out;
  end = fmt::format_to_n(end, line.data() + line.size() - 1 - end, format, std::forward<Args>(args)...).out;
  *end++ = '\n';
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(end - line.data()));
  ::_exit(exit_hopeless);
}

}  // namespace dist::sim
