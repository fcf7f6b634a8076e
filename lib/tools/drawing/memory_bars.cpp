// Few bars from many (few), then the two drawings: memory_text and memory_svg, which has a row per bar, too.
#include "drawing/memory_bars.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace dist::drawing {
namespace {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::update: return "update";
  }
  return "";
}

double most_bytes(const std::vector<MemoryBar>& bars) {
  double most = 1;
  for (const MemoryBar& bar : bars) most = std::max(most, bar.bytes);
  return most;
}

std::string mebibytes(double bytes) { return fmt::format("{:.1f} MiB", bytes / (1 << 20)); }

// At most `most` bars: merges as many neighbours of a phase as necessary. Each phase keeps a bar.
std::vector<MemoryBar> few(const std::vector<MemoryBar>& bars, std::size_t most) {
  const std::size_t together = (bars.size() + most - 1) / std::max<std::size_t>(most, 1);
  if (together <= 1) return bars;
  std::vector<MemoryBar> fewer;
  std::size_t joined = 0;
  std::string first;
  for (const MemoryBar& bar : bars) {
    if (joined == 0 || joined == together || fewer.back().phase != bar.phase) {
      fewer.push_back(bar);
      first = bar.unit;
      joined = 1;
      continue;
    }
    fewer.back().unit = first + " .. " + bar.unit;
    fewer.back().bytes = std::max(fewer.back().bytes, bar.bytes);
    ++joined;
  }
  return fewer;
}

// The phase where it begins, and nothing in the rows below.
std::string_view phase_of(const std::vector<MemoryBar>& bars, std::size_t i) {
  return i > 0 && bars[i - 1].phase == bars[i].phase ? "" : name(bars[i].phase);
}

// The colours follow Okabe and Ito, so that people with colour blindness can distinguish them.
constexpr std::string_view style = R"(
text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:18px;fill:#222}
.title{font-size:26px;font-weight:600}.paper{fill:#fff}
.forward{fill:#0072b2}.backward{fill:#b54a00}.update{fill:#00805d}
@media (prefers-color-scheme:dark){text{fill:#e8e8e8}.paper{fill:#15171a}
.forward{fill:#56b4e9}.backward{fill:#ff9a4d}.update{fill:#35d0a5}}
)";

}  // namespace

void add(std::vector<MemoryBar>& bars, const MemoryBar& bar) {
  if (!bars.empty() && bars.back().phase == bar.phase && bars.back().unit == bar.unit)
    bars.back().bytes = std::max(bars.back().bytes, bar.bytes);
  else
    bars.push_back(bar);
}

std::string memory_text(const std::vector<MemoryBar>& all, int width, std::size_t most) {
  const std::vector<MemoryBar> bars = few(all, most);
  constexpr int phase_columns = 10, number_columns = 12;
  int unit_columns = 4;
  for (const MemoryBar& bar : bars) unit_columns = std::max(unit_columns, static_cast<int>(bar.unit.size()));
  const int room = std::max(width - phase_columns - unit_columns - 2 - number_columns, 8);
  const double scale = room / most_bytes(bars);
  std::string text;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto columns = static_cast<std::size_t>(std::max(1.0, bars[i].bytes * scale));
    std::string bar;
    for (std::size_t k = 0; k < columns; ++k) bar += "█";
    text += fmt::format("{:{}}{:{}}  {}{:{}}{:>{}}\n", phase_of(bars, i), phase_columns, bars[i].unit,
                        unit_columns, bar, "", static_cast<std::size_t>(room) - columns,
                        mebibytes(bars[i].bytes), number_columns);
  }
  return text;
}

std::string memory_svg(const std::vector<MemoryBar>& all, const std::string& title, std::size_t most) {
  const std::vector<MemoryBar> bars = few(all, most);
  constexpr double width = 1280, left = 300, right = 140, top = 76, row = 30, box = 24;  // px
  const double height = top + row * static_cast<double>(bars.size()) + 24;
  const double scale = (width - left - right) / most_bytes(bars);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-labelledby=\"title\">\n<title id=\"title\">{}</title>\n<style>{}</style>\n"
      "<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n<text class=\"title\" x=\"16\" "
      "y=\"46\">{}</text>\n",
      width, height, title, style, width, height, title);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = top + row * static_cast<double>(i), wide = bars[i].bytes * scale;
    text += fmt::format(
        "<text x=\"16\" y=\"{}\">{}</text><text x=\"120\" y=\"{}\">{}</text><rect class=\"{}\" x=\"{}\" "
        "y=\"{}\" width=\"{:.1f}\" height=\"{}\"/><text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
        y + 18, phase_of(bars, i), y + 18, bars[i].unit, name(bars[i].phase), left, y, wide, box,
        left + wide + 8, y + 18, mebibytes(bars[i].bytes));
  }
  return text + "</svg>\n";
}

}  // namespace dist::drawing
