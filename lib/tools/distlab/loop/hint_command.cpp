// distlab hint: the hint that fits the last grade, or a page of hints.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "distlab/commands.h"
#include "distlab/file_text.h"
#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/loop/hint_page.h"
#include "distlab/progress.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

constexpr int levels = 3;

std::string page_of(const Lab& lab, int level, bool chinese) {
  return loop::without_note_of_translation(text_of_file(hint_page(lab, level, chinese)));
}

// Chinese text has no spaces at which a line could be broken.
void print_wrapped(const std::string& page, bool chinese) {
  fmt::print("{}", chinese ? page : loop::reflowed(page, terminal_width()));
}

void print_whole_page(const Lab& lab, int level, bool chinese) {
  print_wrapped(page_of(lab, level, chinese), chinese);
  if (level < levels)
    fmt::print("\nStill stuck? Next level: ./distlab hint {} --level {}\n", lab.number, level + 1);
}

// Prints the diagnosis of the last grade, then the page's section about the part that fails.
void print_section(const Lab& lab, const LabProgress& mine, int level, bool chinese) {
  fmt::print("{}\n\n", styled(Style::bold, fmt::format("Lab {}, part {}, \"{}\": hint {} of {}", lab.number,
                                                       mine.part, title_of(mine.failing), level, levels)));
  if (!mine.explanation.empty()) {
    const auto text = "Your last grade suggests: " + mine.explanation;
    fmt::print("{}\n\n", styled(Style::warn, wrapped(text, terminal_width(), 0)));
  }
  const auto page = page_of(lab, level, chinese);
  print_wrapped(loop::section_for_part(page, mine.part).value_or(page), chinese);
}

}  // namespace

int show_hint(const HintOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  if (options.level > 0) {
    print_whole_page(*lab, options.level, options.chinese);
    return exit_ok;
  }
  auto progress = read_progress();
  auto& mine = progress[lab->folder];
  if (mine.is_graded() && mine.last == 100) {
    fmt::print(
        "Your last grade of lab {0} has all points. To see the hints anyway: ./distlab hint {0} --level 1\n",
        lab->number);
    return exit_ok;
  }
  const int level = std::min(mine.hints + 1, levels);
  if (!mine.failing.empty())
    print_section(*lab, mine, level, options.chinese);
  else
    print_wrapped(page_of(*lab, level, options.chinese), options.chinese);
  if (level < levels)
    fmt::print("\nStill stuck? For a bigger hint: ./distlab hint {}{}\n", lab->number,
               options.chinese ? " --zh" : "");
  else if (has_solution(*lab))
    fmt::print("\nStill stuck? To see the solution: ./distlab solution {} --spoil\n", lab->number);
  else
    fmt::print("\nStill stuck? Ask your instructor: this was the last hint\n");
  mine.hints = level;
  write_progress(progress);
  return exit_ok;
}

}  // namespace distlab
