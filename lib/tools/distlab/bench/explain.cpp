#include "distlab/bench/explain.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "dist/collectives/algorithms.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/transport/endpoint.h"

#include "distlab/terminal.h"

namespace distlab::bench {

bool only_tcp() {
  const char* transport = std::getenv("DIST_TRANSPORT");
  return transport && dist::sends_by_sockets_alone(transport);
}

std::string figures_of(const dist::CostModel& model) {
  constexpr double micro = 1e6, nano = 1e9;
  return fmt::format(
      "a message takes {:.3g} us + {:.3g} us at its port + {:.3g} ns per byte; a sum takes {:.3g} ns per "
      "byte;\n"
      "shared memory takes {:.3g} us per synchronisation + {:.3g} ns per byte copied",
      model.alpha * micro, model.overhead * micro, model.beta * nano, model.gamma * nano,
      model.handshake * micro, model.copy * nano);
}

std::string explain(const Plan& plan, std::uint64_t bytes, const dist::KnownCosts& costs, int cores) {
  if (plan.collective == Collective::send_recv)
    dist::fail(dist::Errc::invalid_argument,
               "--explain: send_recv is a message and has no algorithms; name a collective");
  const dist::World at{.ranks = plan.ranks, .nodes = 1, .peers_mapped = !only_tcp()};
  const auto kind = kind_of(plan.collective);
  const bool share_cores = plan.ranks > cores;
  const dist::CostModel model = share_cores ? dist::on_shared_cores(costs.model) : costs.model;
  const auto choice = dist::choose(kind, bytes, at, model);
  const std::string source = costs.file.empty()
                                 ? "Default figures; to measure this machine: ./distlab bench --calibrate"
                                 : fmt::format("Measured by --calibrate ({}):", costs.file.string());
  const std::string turns = share_cores ? fmt::format(", which share {}", dist::counted(cores, "core")) : "";
  std::string text = fmt::format("{} of {} on {} of one machine{}.\n{}\n{}.\n\n", name(plan.collective),
                                 dist::counted(bytes, "byte"), dist::counted(plan.ranks, "rank"), turns,
                                 source, paragraphs(figures_of(model)));
  text += fmt::format("  {:<19}{:>11}  {}\n", "algorithm", "estimate us", "when it is used, and its cost");
  for (const auto& [entry, seconds, not_considered] : dist::estimates(kind, bytes, at, model)) {
    const char mark = entry->name == choice.algorithm ? '*' : ' ';
    text += fmt::format("{} {:<19}{:>11.4g}  {}\n", mark, entry->name, seconds * 1e6,
                        not_considered.empty() ? entry->about : not_considered);
  }
  const int columns = std::min(columns_to_fit(), 100);
  return text + fmt::format("\n* {}\nThese are estimates. To measure: ./distlab bench {} --all-algorithms\n",
                            wrapped(choice.reason + '.', columns - 2, 2), name(plan.collective));
}

}  // namespace distlab::bench
