// What the labs' demos share: how they speak, how they end, and what they say of a simulation.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "dist/core/whole_file.h"
#include "dist/dist.h"
#include "dist/launch/simulate.h"

#include "drawing/ascii.h"
#include "drawing/player_json.h"

namespace story {

// At once: other processes speak, too.
inline void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// Of a demo that was given arguments and takes none: its exit status.
inline int refuse_arguments() {
  say("this demo takes no arguments: its story needs just the ranks that it has");
  return 2;
}

// main() of a demo without arguments: its exit status.
inline int tell(int argc, void (*story)()) {
  if (argc != 1) return refuse_arguments();
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

// An all-reduce of rank + 1 on virtual ranks of a laptop, done by `way`: every rank must have the sum in the
// end. Throws std::runtime_error.
inline dist::sim::Report all_reduce_run(int ranks, std::int64_t elements,
                                        const std::function<void(dist::Tensor&)>& way, bool trace = false) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.trace = trace;
  return well(dist::sim::run(options, [&](int rank) {
    dist::init_process_group();
    dist::Tensor data = dist::full({elements}, rank + 1);
    way(data);
    const int sum = ranks * (ranks + 1) / 2;
    if (!dist::equal(data, dist::full({elements}, sum)))
      throw std::runtime_error(
          fmt::format("the sum on rank {} is {}; expected {} everywhere", rank, data.str(), sum));
  }));
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

// The run in space and time, without the calls and the waits: what moves and what is added. With
// DIST_PLAYER=FILE in the environment it is written there, too, as an animation.
inline void draw(const dist::sim::Report& report, int lab) {
  auto trace = report.trace;
  std::erase_if(trace.events, [](const auto& event) {
    return event.kind == dist::trace::Kind::call || event.kind == dist::trace::Kind::wait;
  });
  say(dist::trace::to_ascii(trace, {.width = 100}));
  const char* const file = std::getenv("DIST_PLAYER");
  if (file == nullptr)
    return say(
        fmt::format("The same as an animation: DIST_PLAYER=lab{0:02}.player.json ./distlab run {0}", lab));
  dist::write_whole_file(file, dist::trace::to_player_json(report.trace));
  say(fmt::format("The animation is in {}", file));
}

}  // namespace story
