// spawn() under DIST_SIM: reads the variable part by part, runs fn once or explores schedules, writes the
// report to stderr and to a file, and throws what spawn() would throw.
#include "dist/launch/spawn_simulated.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/sim/choices.h"
#include "dist/trace/readable.h"

namespace dist {
namespace {

constexpr const char* variable = "DIST_SIM";

int read_number(std::string_view text, std::string_view of) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    fail(Errc::invalid_argument, "\"{}\" is not a number of {}, 1 or more", text, of);
  return number;
}

sim::ExploreOptions read_explore(std::string_view text) {
  constexpr int all = 100'000;
  if (text == "all") return {sim::Search::exhaustive, all};
  return {sim::Search::seeds, read_number(text, "schedules")};
}

void read_part(std::string_view part, SimulationAsked& asked) {
  const auto equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  const std::string value(equals == part.npos ? "" : part.substr(equals + 1));
  sim::WhatIf& what_if = asked.options.what_if;
  if (value.empty())
    fail(Errc::invalid_argument, "it must be KEY=VALUE,..., as in \"ranks=1024,topology=summit\"");
  if (key == "ranks")
    asked.ranks = read_number(value, "ranks");
  else if (key == "topology")
    asked.options.topology = value;
  else if (key == "straggler")
    what_if.stragglers.push_back(sim::parse_straggler(value));
  else if (key == "slow-link")
    what_if.slow_links.push_back(sim::parse_slow_link(value));
  else if (key == "lose")
    what_if.losses.push_back(sim::parse_loss(value));
  else if (key == "seed")
    asked.options.seed = (sim::Choices(value), value);  // throws for an invalid seed
  else if (key == "explore")
    asked.explore = read_explore(value);
  else if (key == "links" && (value == "yes" || value == "no"))
    asked.options.links = value == "yes";
  else if (key == "report")
    asked.report_file = value;
  else
    fail(Errc::invalid_argument,
         "the keys are ranks, topology, straggler, slow-link, lose, seed, explore, links (yes or no) and "
         "report");
}

std::string described(const sim::Report& report, const SimulationAsked& asked) {
  const auto ps = static_cast<std::int64_t>(report.virtual_time_s * 1e12 + 0.5);
  std::string text = fmt::format(
      "simulated: {} on {}, {} of virtual time, {}, at most {} sent by a rank ({:.2f} s here)\n",
      counted(report.traffic.size(), "rank"), asked.options.topology, trace::readable_time(ps),
      counted(report.messages, "message"), trace::readable_bytes(report.max_bytes_sent()), report.wall_s);
  if (asked.options.links) text += busiest_links(report.links);
  return text + report.text();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::optional<SimulationAsked> simulation_asked(const GetEnv& get_env) {
  const std::string text = get_env(variable).value_or("");
  if (text.empty()) return std::nullopt;
  SimulationAsked asked;
  std::string_view left = text;
  for (;;) {
    const auto comma = left.find(',');
    const std::string_view part = left.substr(0, comma);
    try {
      read_part(part, asked);
    } catch (const Error& error) {
      fail(Errc::invalid_argument, "{} has \"{}\": {}", variable, part, error.what());
    }
    if (comma == left.npos) break;
    left.remove_prefix(comma + 1);
  }
  if (asked.explore && !asked.options.seed.empty())
    fail(Errc::invalid_argument, "{} has both seed and explore, which takes many seeds itself", variable);
  return asked;
}

void spawn_simulated(int n, const RankFunction& fn, const SimulationAsked& asked) {
  sim::RunOptions options = asked.options;
  options.ranks = asked.ranks > 0 ? asked.ranks : n;
  sim::Exploration found;
  if (asked.explore)
    found = sim::explore(options, fn, *asked.explore);
  else
    found.wrong = sim::run(options, fn);
  std::fflush(stdout);
  const std::string text = asked.explore ? found.text() : described(*found.wrong, asked);
  std::fputs(text.c_str(), stderr);
  if (!asked.report_file.empty() && !(std::ofstream(asked.report_file, std::ios::app) << text << std::flush))
    fail(Errc::resource, "{}: the report cannot be written to {}", variable, asked.report_file);
  if (!found.wrong || found.wrong->ok()) return;
  if (!found.wrong->findings.empty())  // failures follow from findings
    throw Error(Errc::peer_failed,
                "the simulation found: " + first_line(found.wrong->findings.front().text()));
  throw Error(Errc::peer_failed, found.wrong->failures.front().what);
}

std::string busiest_links(std::vector<sim::LinkTraffic> links) {
  constexpr std::size_t most = 8;
  if (links.empty()) return "";
  std::ranges::stable_sort(links, std::greater(), &sim::LinkTraffic::bytes);
  const auto end_of = [](int rank) { return rank == sim::beyond_a_switch ? "switch" : std::to_string(rank); };
  std::string text = "busiest links:";
  for (std::size_t i = 0; i < std::min(most, links.size()); ++i) {
    const auto& [src, dst, messages, bytes] = links[i];
    text += fmt::format("{} {} -> {} ({}, {})", i == 0 ? "" : ",", end_of(src), end_of(dst),
                        counted(messages, "message"), trace::readable_bytes(bytes));
  }
  if (links.size() > most) text += fmt::format(", and {} more", links.size() - most);
  return text + "\n";
}

}  // namespace dist
