#include "drawing/svg.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "drawing/lanes.h"
#include "drawing/round_step.h"

namespace dist::trace {
namespace {

// As in the player: src/draw/lanes.ts.
constexpr double width = 900, axis = 18;
constexpr double between_runs = 14;

// As in src/ui/style.css. Programs other than browsers that read SVG do not know light-dark().
constexpr std::string_view style = R"(
text{font:14px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#5b606b}
.name{text-anchor:end}
.paper{fill:#fff}.rail{stroke:#d5d2ca;stroke-width:.5}.call{fill:#efede7}.wait{fill:#c9c5bb}.compute{fill:#d09945}
.addition{stroke:#139948;stroke-width:1.6}.line{fill:none;stroke:#1f86cd;stroke-width:1.4}
.lost{stroke:#c22f2f;stroke-width:2;stroke-dasharray:3 2}.thin{stroke-width:.6}
@media (prefers-color-scheme:dark){text{fill:#a9b0bd}.paper{fill:#1f242c}.rail{stroke:#3a414d}.call{fill:#262c36}
.wait{fill:#4d5563}.compute{fill:#a97d3a}.addition{stroke:#3cc96a}.line{stroke:#44a8e7}.lost{stroke:#ff8a80}}
)";

// What only pictures of several runs have. A text's outline has the colour of what is behind it.
constexpr std::string_view label_style = R"(
.box{stroke:#fff;fill:#f0cf96}.second{fill:#d79c4e}.third{fill:#b3c08a}
.waits{fill:none;stroke:#c22f2f;stroke-width:1.8;stroke-linecap:round}
.in{font-size:12px;text-anchor:middle;fill:#1d2026;stroke-width:4px;paint-order:stroke}
.in0{stroke:#f0cf96}.in1{stroke:#d79c4e}.in2{stroke:#b3c08a}.on{stroke:#fff}
@media (prefers-color-scheme:dark){.box{stroke:#1f242c;fill:#6b5024}.second{fill:#96702f}.third{fill:#59653a}
.waits{stroke:#ff8a80}.in{fill:#f2f3f5}.in0{stroke:#6b5024}.in1{stroke:#96702f}.in2{stroke:#59653a}.on{stroke:#1f242c}}
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string page(const std::string& title, const std::string& look, double wide, double high,
                 const std::string& inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n{4}</svg>\n",
      wide, high, escaped(title), look, inside);
}

}  // namespace

std::string to_svg(const Trace& trace) {
  const double height = std::clamp(trace.ranks * 24.0 + axis, 100.0, 340.0);
  const LanesFrame frame{
      .width = width, .row = (height - axis) / std::max(trace.ranks, 1), .duration = drawn_duration(trace)};
  return page(trace.title, std::string(style), width, height,
              lanes_svg(trace, frame) + ticks_svg(frame, height));
}

std::string runs_to_svg(std::span<const Trace> runs, const SvgOptions& options) {
  LanesFrame frame{.width = options.width,
                   .row = options.row,
                   .has_boxes = true,
                   .has_waits = true,
                   .chunks = options.chunks,
                   .colours_by_chunk = options.colours_by_chunk};
  std::string title, lanes;
  for (const Trace& run : runs) {
    frame.duration = std::max(frame.duration, drawn_duration(run));
    title += (title.empty() ? "" : "; ") + run.title;
  }
  frame.tick = pipeline::round_step(static_cast<double>(std::max<std::int64_t>(frame.duration, 5)) / 5);
  for (const Trace& run : runs) {
    if (frame.top > 0) frame.top += between_runs;
    lanes += lanes_svg(run, frame);
    frame.top += run.ranks * options.row;
  }
  const double height = frame.top + axis;
  return page(title, std::string(style) + std::string(label_style), options.width, height,
              lanes + ticks_svg(frame, height));
}

}  // namespace dist::trace
