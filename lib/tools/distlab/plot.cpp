#include "distlab/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "dist/core/whole_file.h"

namespace distlab {
namespace {

constexpr double width = 1280, height = 720, left = 150, right = 380, top = 80, bottom = 100;  // px
constexpr std::size_t looks = 8;  // colours, dashes and marks that can be distinguished

// The colours of the page and of the families of lines, on white and on black. They follow Okabe and Ito, so
// that people with colour blindness can distinguish them.
constexpr std::string_view style = R"(
text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:23px;fill:#222}
.title{font-size:29px;font-weight:600}.family{font-size:21px}.end{font-size:16px}
.paper{fill:#fff}.grid{stroke:#ddd;stroke-width:1}.axis{stroke:#444;stroke-width:2}
.line{fill:none;stroke-width:3.5;stroke-linejoin:round}
.c0{color:#0072b2}.c1{color:#d55e00}.c2{color:#009e73}.c3{color:#a8457f}
.c4{color:#8a6d00}.c5{color:#3b8ec2}.c6{color:#5b5b5b}.c7{color:#7a3db8}
.line,.mark{stroke:currentColor}.mark{fill:currentColor}
@media (prefers-color-scheme:dark){text{fill:#e8e8e8}.paper{fill:#15171a}.grid{stroke:#3a3d42}.axis{stroke:#b5b8bd}
.c0{color:#56b4e9}.c1{color:#ff9a4d}.c2{color:#35d0a5}.c3{color:#f29bc9}
.c4{color:#f0d442}.c5{color:#9ccbea}.c6{color:#bdbdbd}.c7{color:#c49bf0}}
)";
constexpr std::array<std::string_view, looks> dashes{"none", "14 7", "3 6",  "16 6 3 6",
                                                     "9 5",  "none", "3 10", "20 8"};

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string readable(double value, Unit unit) {
  const auto in_steps = [&](double step, std::initializer_list<const char*> names) {
    double scale = 1;
    for (const char* name : names) {
      if (value < scale * step * 0.999 || name == *(names.end() - 1))
        return fmt::format("{:.4g} {}", value / scale, name);
      scale *= step;
    }
    return std::string();
  };
  switch (unit) {
    case Unit::count: return fmt::format("{:.6g}", value);
    case Unit::bytes: return in_steps(1024, {"B", "KiB", "MiB", "GiB", "TiB"});
    case Unit::seconds: value *= 1e12; return in_steps(1000, {"ps", "ns", "us", "ms", "s"});
  }
  __builtin_unreachable();
}

namespace {

// A logarithmic axis: the positions of values, and which values are labelled.
class Scale {
 public:
  Scale(double least, double most, double base, double from, double to)
      : base_(base),
        low_(std::floor(power(least) + 1e-9)),
        high_(std::ceil(power(most) - 1e-9)),
        from_(from),
        to_(to) {
    if (high_ <= low_) high_ = low_ + 1;
  }
  double operator()(double value) const {
    return from_ + (power(value) - low_) / (high_ - low_) * (to_ - from_);
  }
  std::vector<double> ticks(int most) const {
    const double step = std::max(1., std::ceil((high_ - low_) / most));
    std::vector<double> values;
    for (double exponent = low_; exponent <= high_; exponent += step)
      values.push_back(std::pow(base_, exponent));
    return values;
  }

 private:
  double power(double value) const { return std::log(value) / std::log(base_); }
  double base_, low_, high_, from_, to_;
};

template <class Get>
std::pair<double, double> range(const Plot& plot, Get get) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& line : plot.lines) {
    for (const auto& point : line.points) {
      least = std::min(least, get(point));
      most = std::max(most, get(point));
    }
  }
  return {least, most};
}

std::string mark(std::size_t look, double x, double y, double r) {
  switch (look % 4) {
    case 0: return fmt::format("<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", x, y, r);
    case 1:
      return fmt::format("<rect class=\"mark\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"/>", x - r,
                         y - r, 2 * r, 2 * r);
    case 2:
      return fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f}l{} {}h{}z\"/>", x, y - r, r, 2 * r, -2 * r);
    default:
      return fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f}l{} {}l{} {}l{} {}z\"/>", x, y - r, r, r, -r,
                         r, -r, -r);
  }
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        x_(make_scale(range(plot, [](const auto& p) { return p.first; }), plot.x.unit, left, width - right)),
        y_(make_scale(range(plot, [](const auto& p) { return p.second; }), plot.y.unit, height - bottom,
                      top)) {
    for (const auto& line : plot.lines) {
      if (std::ranges::find(families_, line.family) == families_.end()) families_.push_back(line.family);
    }
  }

  std::string svg() {
    const std::string title = escaped(plot_.title);
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
        "aria-labelledby=\"title\">\n",
        width, height);
    add("<title id=\"title\">{}</title>\n<style>{}</style>\n", title, style);
    add("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", width, height);
    add("<text class=\"title\" x=\"{}\" y=\"46\">{}</text>\n", left, title);
    axes();
    for (const auto& line : plot_.lines) draw(line);
    labels();
    legend();
    add("</svg>\n");
    return text_;
  }

 private:
  static Scale make_scale(std::pair<double, double> range, Unit unit, double from, double to) {
    return {range.first, range.second, unit == Unit::seconds ? 10. : 2., from, to};
  }
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }
  std::size_t look_of(const std::string& family) const {
    return static_cast<std::size_t>(std::ranges::find(families_, family) - families_.begin()) % looks;
  }

  void axes() {
    constexpr double floor = height - bottom, end = width - right;
    for (const double value : x_.ticks(7)) {
      add("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
          "text-anchor=\"middle\">{4}</text>\n",
          x_(value), floor, top, floor + 33, readable(value, plot_.x.unit));
    }
    for (const double value : y_.ticks(10)) {
      add("<path class=\"grid\" d=\"M{1} {0:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
          "text-anchor=\"end\">{5}</text>\n",
          y_(value), left, end, left - 12, y_(value) + 8, readable(value, plot_.y.unit));
    }
    add("<path class=\"axis\" fill=\"none\" d=\"M{} {}V{}H{}\"/>\n", left, top, floor, end);
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + end) / 2, height - 20,
        escaped(plot_.x.name));
    add("<text transform=\"translate(30 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        (top + floor) / 2, escaped(plot_.y.name));
  }

  void draw(const PlotLine& line) {
    const std::size_t look = look_of(line.family);
    std::string path;
    for (const auto& [x, y] : line.points)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_(x), y_(y));
    add("<g class=\"c{}\"><path class=\"line\" stroke-dasharray=\"{}\" d=\"{}\"/>", look, dashes[look], path);
    for (const auto& [x, y] : line.points) text_ += mark(look, x_(x), y_(y), 5);
    add("</g>\n");
    if (!line.label.empty()) labels_.push_back({y_(line.points.back().second) + 5, line.label, look});
  }

  // Puts the labels at the right, as close to the lines' ends as possible without overlap.
  void labels() {
    constexpr double line_height = 17;
    std::ranges::stable_sort(labels_, {}, &Label::y);
    for (std::size_t i = 1; i < labels_.size(); ++i)
      labels_[i].y = std::max(labels_[i].y, labels_[i - 1].y + line_height);
    double lowest = height - bottom + 5;
    for (auto label = labels_.rbegin(); label != labels_.rend(); ++label, lowest -= line_height) {
      label->y = std::min(label->y, lowest);
      add("<text class=\"end c{}\" style=\"fill:currentColor\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
          label->look, width - right + 12, label->y, escaped(label->text));
    }
  }

  void legend() {
    double y = top + 12;
    const double x = width - right + 105;
    for (const auto& family : families_) {
      const std::size_t look = look_of(family);
      add("<g class=\"c{}\"><path class=\"line\" stroke-dasharray=\"{}\" d=\"M{} {}h44\"/>{}</g>", look,
          dashes[look], x, y, mark(look, x + 22, y, 6));
      add("<text class=\"family\" x=\"{}\" y=\"{}\">{}</text>\n", x + 54, y + 7, escaped(family));
      y += 36;
    }
  }

  const Plot& plot_;
  const Scale x_, y_;
  std::vector<std::string> families_;
  struct Label {
    double y;
    std::string text;
    std::size_t look;
  };
  std::vector<Label> labels_;
  std::string text_;
};

}  // namespace

std::string to_svg(const Plot& plot) { return Drawing(plot).svg(); }

void write_svg(const Plot& plot, const std::filesystem::path& path) {
  dist::write_whole_file(path, to_svg(plot));
}

}  // namespace distlab
