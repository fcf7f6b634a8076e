#include "distlab/loop/round_page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "distlab/results/text.h"
#include "distlab/terminal.h"

namespace distlab::loop {
namespace {

using Result = GradedTest::Result;

constexpr int indent = 2;

// "part 2  ✗✗✓✗  two ranks swap, whoever the partners are, blocks for two rounds"
std::string part_line(int part, const std::vector<const GradedTest*>& tests, int width) {
  std::string marks, names;
  int marks_width = 0;
  for (const auto* test : tests) {
    const bool passed = test->result == Result::passed;
    marks += styled(passed ? Style::good : Style::bad, passed                         ? "✓"
                                                       : test->result == Result::todo ? "·"
                                                                                      : "✗");
    ++marks_width;
    if (!passed) names += (names.empty() ? "" : ", ") + title_of(test->name);
  }
  const int room = width - 10 - marks_width;
  if (static_cast<int>(names.size()) > room)
    names = room > 3 ? names.substr(0, static_cast<std::size_t>(room - 3)) + "..." : "";
  return fmt::format("part {}  {}  {}\n", part, marks, styled(Style::dim, names));
}

}  // namespace

std::string grade_page(const std::string& title, const Grade& grade, int width) {
  const auto passed = std::ranges::count(grade.tests, Result::passed, &GradedTest::result);
  std::string page = styled(grade.is_full() ? Style::good : Style::bold,
                            fmt::format("{} of {}", grade.score, grade.max_score));
  page += fmt::format("  {} of {} tests pass  {}\n", passed, grade.tests.size(), styled(Style::dim, title));
  const auto first =
      std::ranges::find_if(grade.tests, [](const GradedTest& test) { return test.result != Result::passed; });
  if (first != grade.tests.end()) {
    page += fmt::format("\n{} {}\n", styled(Style::bad, "✗"),
                        styled(Style::bold, fmt::format("part {}: {}", first->part, title_of(first->name))));
    if (!first->messages.empty()) page += indented(clean(first->messages.front()), Style::dim, indent, width);
    if (!first->explanation.empty())
      page += indented(clean("Perhaps: " + first->explanation), Style::warn, indent, width);
  }
  std::map<int, std::vector<const GradedTest*>> parts;
  for (const auto& test : grade.tests) parts[test.part].push_back(&test);
  page += "\n";
  for (const auto& [part, tests] : parts) page += part_line(part, tests, width);
  return page;
}

}  // namespace distlab::loop
