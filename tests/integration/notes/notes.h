// What the programs in this folder share: how they start, and how they print.
#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dist/dist.h"

namespace notes {

// One write for each line: lines of several processes do not mix.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const auto line = fmt::format(format, std::forward<Args>(args)...) + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::abort();
}

// "[1.0, 2.0]", or with more digits.
inline std::string show(const dist::Tensor& t, int digits = 1) {
  std::string text;
  for (const double value : t.to_vector<double>())
    text += fmt::format("{}{:.{}f}", text.empty() ? "" : ", ", value, digits);
  return "[" + text + "]";
}

// Starts `world_size` processes that join the default group and run `program`. For main() to return.
inline int run(int world_size, const std::function<void(int rank, int world_size)>& program) {
  try {
    dist::spawn(world_size, [&](int) {
      dist::init_process_group({.backend = "host", .timeout = std::chrono::seconds(30)});
      program(dist::get_rank(), dist::get_world_size());
      dist::destroy_process_group();
    });
    return 0;
  } catch (const dist::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace notes
