#include "distlab/show/scene.h"

#include <fmt/format.h>

#include "distlab/terminal.h"
#include "drawing/ascii.h"

namespace distlab::show {

void say(const std::string& text) { fmt::print("{}", indented(text, Style::plain, 2, terminal_width())); }

void draw(const dist::trace::Trace& trace) {
  dist::trace::AsciiOptions options;
  options.width = terminal_columns();
  options.max_rows = 80;
  fmt::print("\n{}\n", dist::trace::to_ascii(trace, options));
}

}  // namespace distlab::show
