#include "dist/simulate/simulate.h"

#include <algorithm>
#include <optional>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/join/environment.h"
#include "dist/sim/choices.h"
#include "dist/sim/topology_file.h"
#include "dist/simulate/simulation.h"
#include "dist/trace/recorder.h"

namespace dist::sim {

void check_ranks(int ranks, const Topology& topology) {
  if (ranks < 1 || ranks > most_ranks)
    fail(Errc::invalid_argument, "{} ranks were asked for; a simulation takes from 1 to {}", ranks,
         most_ranks);
  if (topology.max_ranks > 0 && ranks > topology.max_ranks)
    fail(Errc::invalid_argument, "topology {} has {}; {} ranks were asked for", topology.name,
         counted(topology.max_ranks, "GPU"), ranks);
}

Report simulate(const RunOptions& options, const std::function<void(int rank)>& fn, Choices* choices) {
  if (!fn) fail(Errc::invalid_argument, "sim::run: there is no function to call");
  if (Scheduler::current())
    fail(Errc::invalid_argument, "sim::run: a simulated rank cannot start a simulation");
  Topology topology = load_topology(options.topology);
  check_ranks(options.ranks, topology);
  return Simulation(options, std::move(topology), choices).run(fn);
}

Report run(const RunOptions& options, const std::function<void(int rank)>& fn) {
  const std::string trace_file = process_environment("DIST_TRACE").value_or("");
  RunOptions traced = options;
  traced.trace = options.trace || !trace_file.empty();
  std::optional<Choices> choices;
  if (!options.seed.empty()) choices.emplace(options.seed);
  Report report = simulate(traced, fn, choices ? &*choices : nullptr);
  if (!trace_file.empty()) trace::write_file(report.trace, trace_file);
  return report;
}

void restart_peak() {
  if (Scheduler* const scheduler = Scheduler::current()) scheduler->restart_peak();
}

std::uint64_t Report::max_bytes_sent() const {
  std::uint64_t most = 0;
  for (const auto& rank : traffic) most = std::max(most, rank.bytes_sent);
  return most;
}

std::uint64_t Report::max_peak_buffer_bytes() const {
  return peak_buffer_bytes.empty() ? 0 : *std::ranges::max_element(peak_buffer_bytes);
}

std::string Report::text() const {
  std::string text;
  for (const auto& finding : findings) text += finding.text() + "\n";
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, failures.size()); ++i) text += failures[i].what + "\n";
  if (failures.size() > most) text += fmt::format("and {} more ranks failed\n", failures.size() - most);
  for (const auto& note : notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace dist::sim
