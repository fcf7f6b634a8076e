// What the labs' demos share: how they speak, how they end, and what they say of a simulation.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "dist/launch/simulate.h"

namespace story {

// At once: other processes speak, too.
inline void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// main() of a demo without arguments: its exit status.
inline int tell(int argc, void (*story)()) {
  if (argc != 1) {
    say("usage: no arguments");
    return 2;
  }
  try {
    story();
  } catch (const std::exception& error) {
    say(fmt::format("   {}", error.what()));
    return 1;
  }
  return 0;
}

// The report of a run that went well; throws std::runtime_error that explains one that did not.
inline dist::sim::Report well(dist::sim::Report report) {
  if (!report.failures.empty() && report.findings.empty())
    throw std::runtime_error(report.failures.front().what);  // the others say the same
  if (!report.ok()) throw std::runtime_error(report.text());
  return report;
}

// By all ranks together.
inline std::uint64_t bytes_sent(const dist::sim::Report& report) {
  std::uint64_t bytes = 0;
  for (const auto& of_rank : report.traffic) bytes += of_rank.bytes_sent;
  return bytes;
}

inline std::string in_bytes(std::uint64_t bytes) {
  if (bytes >= 1024 * 1024) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1024 * 1024));
  return fmt::format("{} B", bytes);
}

}  // namespace story
