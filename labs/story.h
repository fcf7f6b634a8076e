// What the labs' demos share: printing, exit statuses, and the evaluation of simulated runs.
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
#include "dist/simulate/simulate.h"

#include "drawing/ascii.h"
#include "drawing/player_json.h"

namespace story {

// Prints a line and flushes it, because other processes print, too.
inline void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// For a demo that takes no arguments and was given some: prints an error and returns the exit status.
inline int refuse_arguments() {
  say("this demo takes no arguments: its number of ranks is fixed");
  return 2;
}

// On every rank: rank 0 prints the lines of all ranks, in rank order: "   rank 2   LINE".
inline void say_in_turn(const std::string& line) {
  const auto lines = dist::gather_object(line, 0);
  for (std::size_t i = 0; i < lines.size(); ++i) say(fmt::format("   rank {}   {}", i, lines[i]));
}

// A row of a bar chart, with one character per `unit_s` seconds: █ for what is computation, ░ for the rest.
inline void say_bar(const std::string& name, double seconds, double computation_s, double unit_s) {
  const auto characters = [unit_s](double of) { return static_cast<std::size_t>(of / unit_s + 0.5); };
  std::string bar;
  for (std::size_t i = 0; i < characters(seconds); ++i) bar += i < characters(computation_s) ? "█" : "░";
  say(fmt::format("   {:<28} {:>5.1f} ms  {}", name, 1e3 * seconds, bar));
}

// The main() of a demo that takes no arguments. Returns the exit status.
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

// Returns the report of a run that succeeded. For a run that failed, throws a std::runtime_error that says
// why.
inline dist::sim::Report well(dist::sim::Report report) {
  if (!report.failures.empty() && report.findings.empty())
    throw std::runtime_error(report.failures.front().what);  // the other failures have the same text
  if (!report.ok()) throw std::runtime_error(report.text());
  return report;
}

// Runs the program on virtual ranks of the topology, each of them in the default group. Throws as well()
// does.
inline dist::sim::Report simulate(int ranks, const std::string& topology,
                                  const std::function<void()>& program, bool trace = false) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.topology = topology;
  options.trace = trace;
  return well(dist::sim::run(options, [&](int) {
    dist::init_process_group();
    program();
  }));
}

// Runs the all_reduce `way` on virtual ranks of a laptop; rank r contributes r + 1. Throws std::runtime_error
// if a rank does not have the sum afterwards.
inline dist::sim::Report all_reduce_run(int ranks, std::int64_t elements,
                                        const std::function<void(dist::Tensor&)>& way, bool trace = false) {
  const auto program = [&] {
    dist::Tensor data = dist::full({elements}, dist::get_rank() + 1);
    way(data);
    const int sum = ranks * (ranks + 1) / 2;
    if (!dist::equal(data, dist::full({elements}, sum)))
      throw std::runtime_error(
          fmt::format("the sum on rank {} is {}; expected {} everywhere", dist::get_rank(), data.str(), sum));
  };
  return simulate(ranks, "laptop", program, trace);
}

// The number of bytes that all ranks together have sent.
inline std::uint64_t bytes_sent(const dist::sim::Report& report) {
  std::uint64_t bytes = 0;
  for (const auto& of_rank : report.traffic) bytes += of_rank.bytes_sent;
  return bytes;
}

inline std::string in_bytes(std::uint64_t bytes) {
  if (bytes >= 1024 * 1024) return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1024 * 1024));
  return fmt::format("{} B", bytes);
}

// Prints a space-time diagram of the run, with its messages and additions, but without the calls and the
// waits. If the environment variable DIST_PLAYER names a file, the run is also written to it, as an
// animation.
inline void draw(const dist::sim::Report& report, int lab) {
  auto trace = report.trace;
  std::erase_if(trace.events, [](const auto& event) {
    return event.kind == dist::trace::Kind::call || event.kind == dist::trace::Kind::wait;
  });
  say(dist::trace::to_ascii(trace, {.width = 100}));
  const char* const file = std::getenv("DIST_PLAYER");
  if (file == nullptr)
    return say(
        fmt::format("To save it as an animation: DIST_PLAYER=lab{0:02}.player.json ./distlab run {0}", lab));
  dist::write_whole_file(file, dist::trace::to_player_json(report.trace));
  say(fmt::format("The animation is in {}", file));
}

}  // namespace story
