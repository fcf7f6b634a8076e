#include <algorithm>

#include <fmt/format.h>

#include "dist/core/counted.h"

#include "distlab/bench/results.h"

namespace distlab::bench {
namespace {

void add_point(Plot& plot, const std::string& family, const std::string& label, const Row& row, double time) {
  const auto is_it = [&](const PlotLine& line) { return line.family == family && line.label == label; };
  auto line = std::ranges::find_if(plot.lines, is_it);
  if (line == plot.lines.end()) line = plot.lines.insert(line, {family, label, {}});
  line->points.emplace_back(static_cast<double>(row.bytes), time);
}

}  // namespace

Plot as_plot(const Run& run, const std::vector<Row>& rows) {
  const bool chosen = run.plan.algorithms.size() == 1 && run.plan.algorithms[0].empty();
  const bool several_forms = forms(run.plan.collective).size() > 1;
  Plot plot;
  plot.title = fmt::format("{} {} on {}", name(run.plan.collective), run.options.dtype,
                           dist::counted(run.plan.ranks, "rank"));
  plot.x = {"bytes", Unit::bytes};
  plot.y = {"time per call", Unit::seconds};
  const std::string& first = rows.front().algorithm;
  for (const Row& row : rows) {
    const std::string label = several_forms ? std::string(name(row.form)) : "";
    add_point(plot, chosen ? "distlab" : row.algorithm, label, row, row.ours.median);
    if (!chosen && row.algorithm != first) continue;  // the peer and the limit need only one line
    if (row.peer) add_point(plot, run.peer_title, label, row, row.peer->median);
    if (row.limit_s > 0) add_point(plot, "limit", label, row, row.limit_s);
  }
  return plot;
}

}  // namespace distlab::bench
