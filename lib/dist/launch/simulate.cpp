#include "dist/launch/simulate.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/launch/simulation.h"
#include "dist/sim/topology_file.h"

namespace dist::sim {

Report run(const RunOptions& options, const std::function<void(int rank)>& fn) {
  if (options.ranks < 1)
    fail(Errc::invalid_argument, "sim::run: {} ranks were asked for; at least one is needed", options.ranks);
  if (!fn) fail(Errc::invalid_argument, "sim::run: there is no function to call");
  if (Scheduler::current())
    fail(Errc::invalid_argument, "sim::run: a simulated rank cannot start a simulation");
  Topology topology = load_topology(options.topology);
  if (topology.max_ranks > 0 && options.ranks > topology.max_ranks)
    fail(Errc::invalid_argument, "sim::run: topology {} has {} GPUs; {} ranks were asked for", topology.name,
         topology.max_ranks, options.ranks);
  return Simulation(options, std::move(topology)).run(fn);
}

void compute(double seconds) {
  if (Scheduler* const scheduler = Scheduler::current()) scheduler->work(from_seconds(seconds));
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
  return text;
}

}  // namespace dist::sim
