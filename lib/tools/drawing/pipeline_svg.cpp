#include "drawing/pipeline_svg.h"

#include <string_view>

#include <fmt/format.h>

#include "drawing/round_step.h"

namespace dist::pipeline {
namespace {

constexpr double width = 1280, left = 110, right = 24, top = 76, row = 44, box = 36, bottom = 96;  // px
constexpr double digit = 10;  // px, of a box's text

// The colours follow Okabe and Ito, so that people with colour blindness can distinguish them.
constexpr std::string_view style = R"(
text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:20px;fill:#222}
.title{font-size:26px;font-weight:600}.paper{fill:#fff}.wait{fill:#eee}.axis{stroke:#444;stroke-width:2}
.box{stroke:#fff;stroke-width:1.5}.in{font-size:17px;text-anchor:middle;fill:#fff}.at{text-anchor:middle}
.f{fill:#0072b2}.b{fill:#b54a00}.w{fill:#00805d}
@media (prefers-color-scheme:dark){text{fill:#e8e8e8}.paper{fill:#15171a}.wait{fill:#24272c}.axis{stroke:#b5b8bd}
.box{stroke:#15171a}.in{fill:#101214}.f{fill:#56b4e9}.b{fill:#ff9a4d}.w{fill:#35d0a5}}
)";

char class_of(ActionKind kind) {
  return kind == ActionKind::forward ? 'f' : kind == ActionKind::backward_weight ? 'w' : 'b';
}

class Picture {
 public:
  Picture(const Timeline& timeline, const Shape& shape)
      : timeline_(timeline),
        shape_(shape),
        scale_((width - left - right) / (timeline.total > 0 ? timeline.total : 1)),
        floor_(top + row * static_cast<double>(timeline.ranks.size())) {}

  std::string draw(const std::string& title) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
        "aria-labelledby=\"title\">\n<title id=\"title\">{}</title>\n<style>{}</style>\n",
        width, floor_ + bottom, title, style);
    add("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", width, floor_ + bottom);
    add("<text class=\"title\" x=\"{}\" y=\"46\">{}</text>\n", left, title);
    for (std::size_t rank = 0; rank < timeline_.ranks.size(); ++rank) add_row(rank);
    add_axis();
    add_legend();
    return text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }
  double x(double time) const { return left + time * scale_; }

  void add_row(std::size_t rank) {
    const double y = top + row * static_cast<double>(rank);
    add("<text x=\"16\" y=\"{}\">rank {}</text><rect class=\"wait\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" "
        "height=\"{}\"/>\n",
        y + 25, rank, left, y, timeline_.total * scale_, box);
    for (const TimedAction& each : timeline_.ranks[rank]) {
      const double wide = (each.end - each.begin) * scale_;
      const int chunk = each.action.stage / shape_.ranks;
      add("<rect class=\"box {}\" fill-opacity=\"{:.2f}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" "
          "height=\"{}\"/>",
          class_of(each.action.kind), 1 - 0.4 * chunk / shape_.chunks, x(each.begin), y, wide, box);
      const std::string number = fmt::format("{}", each.action.micro_batch);
      if (wide > digit * static_cast<double>(number.size()) + 2)
        add("<text class=\"in\" x=\"{:.1f}\" y=\"{}\">{}</text>", x((each.begin + each.end) / 2), y + 24,
            number);
      text_ += '\n';
    }
  }

  void add_axis() {
    add("<path class=\"axis\" d=\"M{} {}H{}\"/>\n", left, floor_, width - right);
    const double step = round_step(timeline_.total > 0 ? timeline_.total / 10 : 1);
    for (double time = 0; time <= timeline_.total; time += step)
      add("<text class=\"at\" x=\"{:.1f}\" y=\"{}\">{:.4g}</text>\n", x(time), floor_ + 26, time);
  }

  void add_legend() {
    bool splits = false;
    for (const auto& rank : timeline_.ranks)
      for (const TimedAction& each : rank) splits |= each.action.kind == ActionKind::backward_weight;
    double at = left;
    const auto entry = [&](std::string_view look, std::string_view text) {
      add("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"26\" height=\"20\"/><text x=\"{}\" "
          "y=\"{}\">{}</text>\n",
          look, at, floor_ + 52, at + 36, floor_ + 69, text);
      at += 72 + digit * static_cast<double>(text.size());
    };
    entry("f", "forward");
    entry("b", splits ? "backward, input gradients" : "backward");
    if (splits) entry("w", "backward, weight gradients");
    entry("wait", "waiting");
    if (shape_.chunks > 1) add("<text x=\"{}\" y=\"{}\">later chunks are lighter</text>\n", at, floor_ + 69);
  }

  const Timeline& timeline_;
  const Shape& shape_;
  const double scale_, floor_;
  std::string text_;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline, const Shape& shape, const std::string& title) {
  return Picture(timeline, shape).draw(title);
}

}  // namespace dist::pipeline
