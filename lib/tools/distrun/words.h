// What the two halves of reading a command line share: command_line.cpp finds the words, options.cpp knows
// what they mean.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "options.h"

namespace distrun {

// The options that are more than a number or a name, as they were written.
struct Words {
  std::string nnodes = "1", nproc = "1", backend = "static", endpoint, conf, redirects = "0", tee = "0",
              filter;
  std::string start_method = "spawn";
  bool standalone = false, no_python = false, module = false, run_path = false, no_prefix = false;
};

// Puts their meaning into `options`, which already holds those that are only a number or a name. Throws Stop.
void understand(const Words& words, Options& options);

// Wrong usage: one line that says what is wrong.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Stop{2, "distrun: " + fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace distrun
