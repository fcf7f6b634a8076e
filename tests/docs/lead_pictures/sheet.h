// A sheet of SVG that fits light and dark pages, for pictures of other things than runs. Three colours have
// a meaning of the picture's own: `a` (blue), `b` (orange) and `c` (green).
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace dist::pictures {

class Sheet {
 public:
  Sheet(double width, double height, std::string_view title) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n<rect class=\"paper\" width=\"{0}\" "
        "height=\"{1}\"/>\n",
        width, height, title, style);
  }
  void line(std::string_view look, double x1, double y1, double x2, double y2) {
    add("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", look, x1, y1, x2, y2);
  }
  void path(std::string_view look, const std::string& d) { add("<path class=\"{}\" d=\"{}\"/>\n", look, d); }
  void circle(std::string_view look, double x, double y, double r) {
    add("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", look, x, y, r);
  }
  void bar(std::string_view look, double x, double y, double width, double height) {
    add("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", look, x, y,
        width, height);
  }
  // `look`: start, middle or end at x, and further classes. Centred on y in every renderer.
  void text(std::string_view look, double x, double y, std::string_view text) {
    add("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" dy=\".35em\">{}</text>\n", look, x, y, text);
  }
  std::string svg() const { return text_ + "</svg>\n"; }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }

  // As the pictures of runs (lib/tools/drawing/svg.cpp).
  static constexpr std::string_view style = R"(
text{font:14px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#5b606b}
.paper{fill:#fff}.start{text-anchor:start}.middle{text-anchor:middle}.end{text-anchor:end}.strong{fill:#1d2026;font-weight:600}
.rail{stroke:#d5d2ca;stroke-width:1}.line{fill:none;stroke:#8a8f9a;stroke-width:2}.mark{fill:#c22f2f}
.a{fill:#8ec5ea;stroke:#1f86cd}.b{fill:#f0cf96;stroke:#c07f1e}.c{fill:#a9dcc3;stroke:#12876a}.leaf{fill:#fff}.both{fill:#e4e1d9;stroke:#8a8f9a}
.la{fill:none;stroke:#1f86cd;stroke-width:2.5}.lb{fill:none;stroke:#c07f1e;stroke-width:2.5}.thin{stroke-dasharray:5 4}
@media (prefers-color-scheme:dark){text{fill:#a9b0bd}.paper,.leaf{fill:#1f242c}.strong{fill:#f2f3f5}.rail{stroke:#3a414d}
.line{stroke:#7c8492}.mark{fill:#ff8a80}.a{fill:#1d5b8a;stroke:#44a8e7}.b{fill:#6b5024;stroke:#d99a3a}.c{fill:#1f5f49;stroke:#35d0a5}
.leaf{fill:#1f242c}.both{fill:#3a414d;stroke:#7c8492}.la{stroke:#44a8e7}.lb{stroke:#d99a3a}}
)";
  std::string text_;
};

}  // namespace dist::pictures
