#include "picture.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "dist/dist.h"

namespace dist::pictures {

trace::Trace run(int ranks, const std::string& topology, const std::function<void(int rank)>& program,
                 const std::string& finding) {
  sim::RunOptions options;
  options.ranks = ranks;
  options.topology = topology;
  options.trace = true;
  auto report = sim::run(options, [&](int rank) {
    init_process_group();
    program(rank);
  });
  const bool is_as_planned =
      finding.empty() ? report.ok()
                      : report.findings.size() == 1 && str(report.findings.front().code) == finding;
  if (!is_as_planned) throw std::runtime_error("a picture's run went wrong: " + report.text());
  return std::move(report.trace);
}

trace::Trace without_calls(trace::Trace run) {
  std::erase_if(run.events, [](const auto& event) { return event.kind == trace::Kind::call; });
  return run;
}

trace::Trace with_names(trace::Trace run, const std::function<std::string(int rank, int k)>& name) {
  std::map<int, int> counts;
  for (auto& event : run.events)
    if (event.kind == trace::Kind::compute) event.name = name(event.rank, counts[event.rank]++);
  return run;
}

}  // namespace dist::pictures
