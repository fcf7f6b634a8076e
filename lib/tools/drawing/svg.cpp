// From the top: colours, texts, the lanes (their scale, then each layer from the back to the front), the page
// around them.
#include "drawing/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>

#include <fmt/format.h>

#include "dist/trace/messages.h"

namespace dist::trace {
namespace {

// As in the player: src/draw/lanes.ts.
constexpr double width = 900, gutter = 34, right = 10, axis = 18;
constexpr int crowd = 24;         // of more ranks thin lines are all that can be seen
constexpr int most_colours = 12;  // as in src/draw/palette.ts

// As in src/ui/style.css. What reads SVG without being a browser knows no light-dark().
constexpr std::string_view style = R"(
text{font:14px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#5b606b}
.name{text-anchor:end;dominant-baseline:central}
.paper{fill:#fff}.rail{stroke:#d5d2ca;stroke-width:.5}.call{fill:#efede7}.wait{fill:#c9c5bb}.compute{fill:#d09945}
.addition{stroke:#139948;stroke-width:1.6}.line{fill:none;stroke:#1f86cd;stroke-width:1.4}
.lost{stroke:#c22f2f;stroke-width:2;stroke-dasharray:3 2}.thin{stroke-width:.6}
@media (prefers-color-scheme:dark){text{fill:#a9b0bd}.paper{fill:#1f242c}.rail{stroke:#3a414d}.call{fill:#262c36}
.wait{fill:#4d5563}.compute{fill:#a97d3a}.addition{stroke:#3cc96a}.line{stroke:#44a8e7}.lost{stroke:#ff8a80}}
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

double to_srgb(double linear) {
  const double value = std::clamp(linear, 0.0, 1.0);
  return value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

// "#rrggbb" of CSS's oklch(lightness chroma hue): B. Ottosson, A perceptual color space for image processing,
// 2020.
std::string oklch(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180, a = chroma * std::cos(angle),
               b = chroma * std::sin(angle);
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b),
               m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b),
               s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  const std::array<double, 3> rgb{4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                                  -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                                  -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  std::string text = "#";
  for (const double channel : rgb) text += fmt::format("{:02x}", std::lround(255 * to_srgb(channel)));
  return text;
}

std::string rank_colour(int rank, int ranks) {
  const double hue = 190 + rank * 285.0 / std::clamp(ranks, 1, most_colours);
  return oklch(rank % 2 == 0 ? 0.7 : 0.6, 0.15, std::round(std::fmod(hue, 360)));
}

// Rounded to a tenth as JavaScript's toFixed(1) does it: half of one goes up.
std::string tenth(double value) { return fmt::format("{:.1f}", std::floor(value * 10 + 0.5) / 10); }

// In the unit that suits `scale`, so that a row of times has one unit.
std::string time_text(double picoseconds, double scale) {
  constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"s", 1e12}, {"ms", 1e9}, {"µs", 1e6}, {"ns", 1e3}, {"ps", 1}}};
  const auto* unit = std::ranges::find_if(units, [&](const auto& one) { return scale >= one.second; });
  const auto [name, size] = unit == units.end() ? units.back() : *unit;
  return fmt::format("{:.{}f} {}", picoseconds / size, size == 1 ? 0 : scale / size >= 100 ? 1 : 2, name);
}

std::string path(std::string_view kind, const std::string& d, const std::string& more = "") {
  return d.empty() ? "" : fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", kind, more, d);
}

class Lanes {
 public:
  explicit Lanes(const Trace& trace)
      : trace_(trace), height_(std::clamp(trace.ranks * 24.0 + axis, 100.0, 340.0)) {
    for (const Event& event : trace.events) duration_ = std::max(duration_, event.end);
    row_ = (height_ - axis) / std::max(trace.ranks, 1);
  }

  double height() const { return height_; }
  std::string str() const {
    const bool is_crowd = trace_.ranks > crowd;
    return names() + rails() + bars("call", Kind::call) + bars("compute", Kind::compute) +
           (is_crowd ? "" : bars("wait", Kind::wait)) + additions() + lines(is_crowd) + ticks();
  }

 private:
  double x(std::int64_t time) const {
    return gutter + (width - gutter - right) * static_cast<double>(time) /
                        static_cast<double>(std::max<std::int64_t>(duration_, 1));
  }
  double y(int rank) const { return (rank + 0.5) * row_; }

  std::string names() const {
    const int every = std::max(1, static_cast<int>(std::ceil(14 / row_)));
    std::string all;
    for (int rank = 0; rank < trace_.ranks; rank += every)
      all +=
          fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n", gutter - 8, tenth(y(rank)), rank);
    return all;
  }

  std::string rails() const {
    std::string d;
    for (int rank = 0; rank < trace_.ranks; ++rank)
      d += fmt::format("M{} {}H{}", gutter, tenth(y(rank)), width - right);
    return path("rail", d);
  }

  std::string bars(std::string_view name, Kind kind) const {
    const bool is_call = kind == Kind::call;
    const double thick = std::max(std::min(row_ * (is_call ? 0.7 : 0.42), is_call ? 16.0 : 9.0), 0.8);
    std::string d;
    for (const Event& event : trace_.events) {
      if (event.kind != kind) continue;
      const double left = x(event.begin), wide = std::max(x(event.end) - left, 0.5);
      d += fmt::format("M{} {}h{}v{}h-{}z", tenth(left), tenth(y(event.rank) - thick / 2), tenth(wide),
                       tenth(thick), tenth(wide));
    }
    return path(name, d);
  }

  std::string additions() const {
    const double tall = std::min(row_ * 0.8, 12.0);
    std::string d;
    for (const Event& event : trace_.events) {
      if (event.kind == Kind::reduce)
        d += fmt::format("M{} {}v{}", tenth(x(event.end)), tenth(y(event.rank) - tall / 2), tenth(tall));
    }
    return path("addition", d);
  }

  // One path per sender, where colours can be told apart; -1: the messages that no rank received.
  std::string lines(bool is_crowd) const {
    const bool is_colourful = trace_.ranks <= most_colours;
    std::map<int, std::string> by_colour;
    for (const Message& message : messages(trace_)) {
      if (!message.send) continue;
      const double x1 = x(message.send->begin), y1 = y(message.source()), y2 = y(message.destination());
      const bool is_lost = !message.receive;
      by_colour[is_lost        ? -1
                : is_colourful ? message.source()
                               : 0] +=
          is_lost
              ? fmt::format("M{} {}L{} {}", tenth(x1), tenth(y1), tenth(std::min(x1 + 8, width - 3)),
                            tenth(y1 + (y2 - y1) * 0.4))
              : fmt::format("M{} {}L{} {}", tenth(x1), tenth(y1), tenth(x(message.receive->end)), tenth(y2));
    }
    std::string all;
    for (const auto& [colour, d] : by_colour) {
      const bool has_own = is_colourful && colour >= 0;
      const auto own = has_own ? fmt::format(" style=\"stroke:{}\"", rank_colour(colour, trace_.ranks)) : "";
      all += path(fmt::format("line{}{}", colour < 0 ? " lost" : "", is_crowd ? " thin" : ""), d, own);
    }
    return all;
  }

  std::string ticks() const {
    constexpr int count = static_cast<int>(width / 170);
    const auto duration = static_cast<double>(duration_);
    std::string all;
    for (int i = 0; i <= count; ++i) {
      const double time = duration * i / count;
      all += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                         tenth(gutter + (width - gutter - right) * i / count), height_ - 5,
                         i == 0       ? "start"
                         : i == count ? "end"
                                      : "middle",
                         i == 0 ? "0" : time_text(time, duration));
    }
    return all;
  }

  const Trace& trace_;
  const double height_;
  double row_ = 0;
  std::int64_t duration_ = 0;
};

}  // namespace

std::string to_svg(const Trace& trace) {
  const Lanes lanes(trace);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n{4}</svg>\n",
      width, lanes.height(), escaped(trace.title), style, lanes.str());
}

}  // namespace dist::trace
