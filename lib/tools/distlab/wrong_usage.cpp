#include "distlab/wrong_usage.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "distlab/commands.h"

namespace distlab {

int wrong_usage(const dist::Error& error) {
  if (error.code() != dist::Errc::invalid_argument) throw;
  fmt::print(stderr, "distlab: {}\n", error.what());
  return exit_usage;
}

bool only_checks() { return std::getenv("DISTLAB_CHECK_ONLY") != nullptr; }

}  // namespace distlab
