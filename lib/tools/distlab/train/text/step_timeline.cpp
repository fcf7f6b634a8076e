#include "distlab/train/text/step_timeline.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/whole_file.h"
#include "dist/group/process_group.h"

#include "drawing/pipeline_svg.h"

namespace distlab {

using dist::pipeline::TimedAction, dist::pipeline::Timeline;

Timeline gather_timeline(const dist::HybridGpt& model, const dist::HybridShape& shape) {
  static_assert(std::is_trivially_copyable_v<TimedAction>);
  constexpr int most = 16;
  const auto& mine = model.timeline();
  std::string bytes(mine.size() * sizeof(TimedAction), '\0');
  if (!mine.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
  const auto all = dist::all_gather_object(bytes);
  const int apart = shape.ranks() > most ? shape.ranks() / shape.pp : 1;  // pp is the first axis of the mesh
  Timeline timeline;
  for (std::size_t rank = 0; rank < all.size(); rank += static_cast<std::size_t>(apart)) {
    auto& row = timeline.ranks.emplace_back(all[rank].size() / sizeof(TimedAction));
    if (!row.empty()) std::memcpy(row.data(), all[rank].data(), all[rank].size());
    for (const TimedAction& each : row) timeline.total = std::max(timeline.total, each.end);
  }
  return timeline;
}

std::string timeline_line(const Timeline& timeline) {
  double computed = 0;
  for (const auto& row : timeline.ranks)
    for (const TimedAction& each : row) computed += each.end - each.begin;
  const double all = timeline.total * static_cast<double>(timeline.ranks.size());
  return fmt::format("timeline of a step: {:.1f} ms on {}, which compute for {:.0f} % of it",
                     1e3 * timeline.total, dist::counted(timeline.ranks.size(), "rank"),
                     all > 0 ? 100 * computed / all : 0);
}

void plot_timeline(const std::filesystem::path& folder, Timeline timeline, const dist::pipeline::Shape& shape,
                   const std::string& title) {
  timeline.total *= 1e3;
  for (auto& row : timeline.ranks)
    for (TimedAction& each : row) each.begin *= 1e3, each.end *= 1e3;
  dist::write_whole_file(folder / "timeline.svg", dist::pipeline::timeline_svg(timeline, shape, title));
}

}  // namespace distlab
