// The memory of one rank over a training step, a bar for each part of the step: in a terminal, and as SVG.
#pragma once

#include <string>
#include <vector>

namespace dist::drawing {

enum class Phase { forward, backward, update };

struct MemoryBar {
  Phase phase = Phase::forward;
  std::string unit;  // "h.3"
  double bytes = 0;  // the most that was in use
};

// Appends a bar; neighbours of one phase and unit become one, which shows the larger of their values.
void add(std::vector<MemoryBar>& bars, const MemoryBar& bar);

// Lines of at most `width` columns (at least 40), each ended by '\n'. More than `most` bars are drawn as
// fewer: neighbours become one bar, which shows the largest of their values.
//
//   forward   h.0           ██████████████████            12.4 MiB
//             h.1           █████████████████████████     16.9 MiB
std::string memory_text(const std::vector<MemoryBar>& bars, int width = 100, std::size_t most = 24);

// It is readable when projected, in light and in dark mode, and loads nothing from elsewhere.
std::string memory_svg(const std::vector<MemoryBar>& bars, const std::string& title, std::size_t most = 48);

}  // namespace dist::drawing
