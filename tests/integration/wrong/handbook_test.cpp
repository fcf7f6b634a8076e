// The pages of the handbook show the programs of this folder, and what is really said of them.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "programs.h"
#include "sources.h"

namespace dist::test {
namespace {

using Lines = std::vector<std::string>;

// The lines between the fences of the first block that begins with `fence`, after the heading.
Lines block(const Lines& page, const std::string& heading, const std::string& fence) {
  auto at = std::ranges::find(page, heading);
  at = std::find(at, page.end(), fence);
  if (at == page.end()) return {};
  return {at + 1, std::find(at + 1, page.end(), "```")};
}

Lines split(const std::string& text) {
  std::istringstream in(text);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

class Page : public testing::TestWithParam<int> {
 protected:
  const std::string code = "D" + std::to_string(GetParam());
  const Lines page = lines_of_file(std::string(HANDBOOK_FOLDER) + '/' + code + ".md");
  const Lines shown = block(page, "## The smallest wrong program", "```cpp");

  // The program that the page shows: "// swap.cpp" is d01_swap.cpp.
  const WrongProgram& program() const {
    for (const WrongProgram& candidate : wrong_programs()) {
      if (!shown.empty() &&
          fmt::format("{}.cpp", candidate.name) == fmt::format("d{:02}_{}", GetParam(), shown[0].substr(3)))
        return candidate;
    }
    throw std::runtime_error(code + ".md shows a program that is not in " WRONG_FOLDER);
  }
};

TEST_P(Page, ShowsAProgramOfThisFolder) {
  const Source source(program().name);
  const Lines begin(source.lines.begin(), source.lines.begin() + std::min(source.lines.size(), shown.size()));
  EXPECT_EQ(joined(shown), joined(begin));
}

TEST_P(Page, QuotesTheReport) {
  if (program().found == Found::not_yet) GTEST_SKIP() << code << " is not found yet";
  sim::RunOptions options;
  options.ranks = Source(program().name).ranks;
  const auto report = sim::run(options, program().wrong);
  ASSERT_FALSE(report.findings.empty());
  Lines said = split(report.findings[0].text());
  const std::string ours = std::string(program().name) + ".cpp", theirs = shown[0].substr(3);
  for (std::string& line : said) {
    for (std::size_t at = 0; (at = line.find(ours, at)) != line.npos;) line.replace(at, ours.size(), theirs);
  }
  EXPECT_EQ(joined(block(page, "## The report", "```")), joined(said));
}

INSTANTIATE_TEST_SUITE_P(Handbook, Page, testing::Range(1, 11),
                         [](const auto& of) { return "D" + std::to_string(of.param); });

}  // namespace
}  // namespace dist::test
