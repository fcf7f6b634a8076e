// In this file, from the top: colours, texts, the lanes layer by layer from the back to the front, and the
// times below them.
#include "drawing/lanes.h"

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
constexpr double gutter = 34, right = 10;
constexpr int crowd = 24;               // with more ranks, thin lines are all that can be seen
constexpr int most_colours = 12;        // as in src/draw/palette.ts
constexpr double digit = 7, tall = 12;  // px, of a label's characters

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

// In the unit that suits `scale`, so that a row of times has one unit. Round times have no zeros at the end.
std::string time_text(double picoseconds, double scale, bool is_round) {
  constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"s", 1e12}, {"ms", 1e9}, {"µs", 1e6}, {"ns", 1e3}, {"ps", 1}}};
  const auto* unit = std::ranges::find_if(units, [&](const auto& one) { return scale >= one.second; });
  const auto [name, size] = unit == units.end() ? units.back() : *unit;
  if (is_round) return fmt::format("{:.4g} {}", picoseconds / size, name);
  return fmt::format("{:.{}f} {}", picoseconds / size, size == 1 ? 0 : scale / size >= 100 ? 1 : 2, name);
}

std::string path(std::string_view kind, const std::string& d, const std::string& more = "") {
  return d.empty() ? "" : fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", kind, more, d);
}

std::string text(std::string_view kind, double x, double y, std::string_view words) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" dy=\".35em\">{}</text>\n", kind, tenth(x),
                     tenth(y), words);
}

double x_of(const LanesFrame& frame, double time) {
  return gutter + (frame.width - gutter - right) * time /
                      static_cast<double>(std::max<std::int64_t>(frame.duration, 1));
}

class Lanes {
 public:
  Lanes(const Trace& trace, const LanesFrame& frame) : trace_(trace), frame_(frame) {
    for (const Event& event : trace.events)
      if (event.offset >= 0)
        tensor_ = std::max(tensor_, event.offset + static_cast<std::int64_t>(event.bytes));
  }

  std::string str() {
    const bool is_crowd = trace_.ranks > crowd;
    return names() + rails() + bars("call", Kind::call) +
           (frame_.has_boxes ? boxes() : bars("compute", Kind::compute)) +
           (is_crowd ? "" : bars("wait", Kind::wait)) + additions() + lines(is_crowd) + labels() +
           chunk_numbers() + waits();
  }

 private:
  double x(std::int64_t time) const { return x_of(frame_, static_cast<double>(time)); }
  double y(double rank) const { return frame_.top + (rank + 0.5) * frame_.row; }

  std::string names() const {
    const int every = std::max(1, static_cast<int>(std::ceil(14 / frame_.row)));
    std::string all;
    for (int rank = 0; rank < trace_.ranks; rank += every)
      all += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\" dy=\".35em\">{}</text>\n", gutter - 8,
                         tenth(y(rank)), rank);
    return all;
  }

  std::string rails() const {
    std::string d;
    for (int rank = 0; rank < trace_.ranks; ++rank)
      d += fmt::format("M{} {}H{}", gutter, tenth(y(rank)), frame_.width - right);
    return path("rail", d);
  }

  // The part of an event that is drawn.
  std::pair<double, double> span(const Event& event) const {
    const double left = x(event.begin);
    return {left, std::max(x(std::min(event.end, frame_.duration)) - left, 0.5)};
  }

  std::string box(const Event& event, double thick) const {
    const auto [left, wide] = span(event);
    return fmt::format("M{} {}h{}v{}h-{}z", tenth(left), tenth(y(event.rank) - thick / 2), tenth(wide),
                       tenth(thick), tenth(wide));
  }

  std::string bars(std::string_view name, Kind kind) const {
    const bool is_call = kind == Kind::call;
    const double thick = std::max(std::min(frame_.row * (is_call ? 0.7 : 0.42), is_call ? 16.0 : 9.0), 0.8);
    std::string d;
    for (const Event& event : trace_.events)
      if (event.kind == kind) d += box(event, thick);
    return path(name, d);
  }

  double thickness_of_boxes() const { return std::min(frame_.row * 0.8, 18.0); }

  // Computations with the same first letter look alike; there are three looks. All digits are one letter.
  std::size_t look(const Event& event) {
    const char first = event.name.empty() ? ' ' : event.name.front();
    const char letter = first >= '0' && first <= '9' ? '0' : first;
    if (letters_.find(letter) == letters_.npos) letters_ += letter;
    return std::min<std::size_t>(letters_.find(letter), 2);
  }

  std::string boxes() {
    constexpr std::array<std::string_view, 3> looks{"box", "box second", "box third"};
    std::array<std::string, looks.size()> d;
    for (const Event& event : trace_.events)
      if (event.kind == Kind::compute) d[look(event)] += box(event, thickness_of_boxes());
    std::string all;
    for (std::size_t i = 0; i < looks.size(); ++i) all += path(looks[i], d[i]);
    return all;
  }

  std::string labels() {
    if (!frame_.has_boxes || thickness_of_boxes() < tall) return "";
    std::string all;
    for (const Event& event : trace_.events) {
      if (event.kind != Kind::compute || event.name.empty() || event.name == "compute") continue;
      const auto [left, wide] = span(event);
      if (wide > digit * static_cast<double>(event.name.size()) + 2)
        all += text(fmt::format("in in{}", look(event)), left + wide / 2, y(event.rank), event.name);
    }
    return all;
  }

  // Arrows of a deadlock: a head of two strokes, because markers cannot have a class's colour.
  std::string waits() const {
    constexpr double wide = 70, head = 7;
    if (!frame_.has_waits) return "";
    std::string d;
    for (const Finding& finding : trace_.findings) {
      for (const Finding::Party& party : finding.parties) {
        const double x1 = x(last_wait(party.rank)) + head, x2 = x1 + wide, y1 = y(party.rank);
        for (const int other : party.waits_for) {
          const double y2 = y(other), angle = std::atan2(y2 - y1, wide);
          d += fmt::format("M{} {}L{} {}", tenth(x1), tenth(y1), tenth(x2), tenth(y2));
          for (const double turn : {2.6, -2.6})
            d += fmt::format("M{} {}L{} {}", tenth(x2), tenth(y2), tenth(x2 + head * std::cos(angle + turn)),
                             tenth(y2 + head * std::sin(angle + turn)));
        }
      }
    }
    return path("waits", d);
  }

  // When the wait with which the rank's trace ends began.
  std::int64_t last_wait(int rank) const {
    std::int64_t begin = 0;
    for (const Event& event : trace_.events)
      if (event.kind == Kind::wait && event.rank == rank) begin = std::max(begin, event.begin);
    return begin;
  }

  std::string additions() const {
    const double high = std::min(frame_.row * 0.8, 12.0);
    std::string d;
    for (const Event& event : trace_.events) {
      if (event.kind == Kind::reduce)
        d += fmt::format("M{} {}v{}", tenth(x(event.end)), tenth(y(event.rank) - high / 2), tenth(high));
    }
    return path("addition", d);
  }

  // One path per sender, where colours can be told apart; -1: the messages that no rank received.
  std::string lines(bool is_crowd) const {
    const int colours = frame_.colours_by_chunk ? frame_.chunks : trace_.ranks;
    const bool is_colourful = colours <= most_colours;
    std::map<int, std::string> by_colour;
    for (const Message& message : messages(trace_)) {
      if (!message.send) continue;
      const double x1 = x(message.send->begin), y1 = y(message.source()), y2 = y(message.destination());
      if (!message.receive) {
        by_colour[-1] += fmt::format("M{} {}L{} {}", tenth(x1), tenth(y1),
                                     tenth(std::min(x1 + 8, frame_.width - 3)), tenth(y1 + (y2 - y1) * 0.4));
        continue;
      }
      const int own = frame_.colours_by_chunk ? chunk(message) : message.source();
      by_colour[is_colourful ? own : 0] +=
          fmt::format("M{} {}L{} {}", tenth(x1), tenth(y1), tenth(x(message.receive->end)), tenth(y2));
    }
    std::string all;
    for (const auto& [colour, d] : by_colour) {
      const bool has_own = is_colourful && colour >= 0;
      const auto own = has_own ? fmt::format(" style=\"stroke:{}\"", rank_colour(colour, colours)) : "";
      all += path(fmt::format("line{}{}", colour < 0 ? " lost" : "", is_crowd ? " thin" : ""), d, own);
    }
    return all;
  }

  int chunk(const Message& message) const {
    return static_cast<int>(std::max<std::int64_t>(message.offset(), 0) * frame_.chunks / tensor_);
  }

  std::string chunk_numbers() const {
    if (frame_.chunks <= 0 || frame_.colours_by_chunk) return "";
    std::string all;
    for (const Message& message : messages(trace_)) {
      if (!message.send || !message.receive) continue;
      const double x1 = x(message.send->begin), x2 = x(message.receive->end), y1 = y(message.source()),
                   y2 = y(message.destination());
      const double along = y1 < y2 ? 0.36 : 0.12;  // how far along the line: not where two lines cross
      all += text("in on", x1 + along * (x2 - x1), y1 + along * (y2 - y1), fmt::to_string(chunk(message)));
    }
    return all;
  }

  const Trace& trace_;
  const LanesFrame& frame_;
  std::int64_t tensor_ = 1;  // bytes
  std::string letters_;      // first letters of computations, in the order in which they were met
};

}  // namespace

std::int64_t drawn_duration(const Trace& trace) {
  std::int64_t all = 0, last = 1000;
  for (const Event& event : trace.events) all = std::max(all, event.end);
  for (const Event& event : trace.events) {
    if (event.kind == Kind::wait) continue;
    for (const std::int64_t time : {event.begin, event.end})
      if (time < all) last = std::max(last, time);
  }
  if (trace.findings.empty() || all < 10 * last) return all;
  return last + last * 2 / 5;
}

std::string lanes_svg(const Trace& trace, const LanesFrame& frame) { return Lanes(trace, frame).str(); }

std::string ticks_svg(const LanesFrame& frame, double bottom) {
  const auto duration = static_cast<double>(frame.duration);
  const int count = static_cast<int>(frame.tick > 0 ? duration / frame.tick : frame.width / 170);
  const double step = frame.tick > 0 ? frame.tick : duration / count;
  std::string all;
  for (int i = 0; i <= count; ++i) {
    const double time = step * i, x = x_of(frame, time);
    const bool is_last = i > 0 && x > frame.width - 30;
    all += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", tenth(x), bottom - 5,
                       i == 0    ? "start"
                       : is_last ? "end"
                                 : "middle",
                       i == 0 ? "0" : time_text(time, duration, frame.tick > 0));
  }
  return all;
}

}  // namespace dist::trace
