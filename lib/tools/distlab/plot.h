// Line plots as SVG with logarithmic axes. They are readable when projected, in light and in dark mode, and
// load nothing from elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace distlab {

enum class Unit { count, bytes, seconds };

struct PlotAxis {
  std::string name;  // "bytes of the tensor"
  Unit unit = Unit::count;
};

struct PlotLine {
  std::string family;  // lines of one family have one colour, dash and mark, and one entry in the legend
  std::string label;   // at the end of the line; may be empty
  std::vector<std::pair<double, double>> points;  // by x; all positive
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotLine> lines;  // each has at least one point
};

// "4 MiB", "1.5 us"; a count has no unit.
std::string readable(double value, Unit unit);
std::string to_svg(const Plot& plot);
// Throws Error{resource} when the file cannot be written.
void write_svg(const Plot& plot, const std::filesystem::path& path);

}  // namespace distlab
