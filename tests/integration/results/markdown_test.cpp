#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "distlab/results/results.h"
#include "distlab/results/text.h"
#include "samples.h"

namespace {

using distlab::as_markdown;
using namespace results_test;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

long bars_in(const std::string& line) {  // those that divide cells
  long bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
  return bars;
}

bool has_line(const std::string& text, const std::string& line) {
  const auto lines = lines_of(text);
  return std::ranges::find(lines, line) != lines.end();
}

TEST(Markdown, OfOneLabIsATableOfItsTests) {
  const auto text = as_markdown({usual()});
  EXPECT_TRUE(has_line(text, "## 05\\_broadcast: 7 of 100 points")) << text;
  EXPECT_TRUE(has_line(text, "| ✅ | 1 | Part1Flat.every\\_root | 7 of 7 |")) << text;
  EXPECT_TRUE(has_line(text, "| ❌ | 2 | Part2Tree.few\\_rounds | 0 of 10 |")) << text;
  EXPECT_TRUE(has_line(text, "rank 2: got 3, expected 4")) << text;
  EXPECT_TRUE(has_line(text, "Perhaps: the root sends to all, and it is one of all.")) << text;
}

TEST(Markdown, OfSeveralLabsIsATableOfLabsWithTheFirstFailureOfEach) {
  const auto text = as_markdown({usual(), ungraded("no memory")});
  EXPECT_TRUE(has_line(text, "| ❌ | 05\\_broadcast | 7 of 100 points |")) << text;
  EXPECT_TRUE(has_line(text, "| ❌ | 05\\_broadcast | ungraded |")) << text;
  EXPECT_TRUE(has_line(text, "rank 2: got 3, expected 4")) << text;
  EXPECT_FALSE(has_line(text, "lab 05, part 2: not written yet")) << text;
  EXPECT_NE(text.find("no memory"), text.npos) << text;
}

TEST(Markdown, OfNoLabSaysSo) { EXPECT_TRUE(has_line(as_markdown({}), "No lab was graded.")); }

TEST(Markdown, SaysOnceWhenThereWasNoSandbox) {
  auto record = usual();
  EXPECT_EQ(as_markdown({record}).find("Practice"), std::string::npos);
  record.grade->isolation = "limits";
  const auto text = as_markdown({usual(), record, record});
  EXPECT_TRUE(has_line(text, "Practice, not a trusted grade: the code ran without a sandbox.")) << text;
  EXPECT_EQ(text.find("Practice"), text.rfind("Practice")) << text;
}

TEST(Markdown, NoTextBreaksTheTable) {
  for (const auto& nasty : nasty_texts()) {
    auto test = failed_test("");
    test.name = nasty;
    const auto lines = lines_of(as_markdown({graded({test})}));
    ASSERT_GE(lines.size(), 5U);
    EXPECT_EQ(bars_in(lines[4]), 5) << lines[4];
  }
}

// The block opens with a fence that nothing within it can close.
TEST(Markdown, NoTextEndsItsBlock) {
  for (const auto& nasty : nasty_texts()) {
    const auto text = as_markdown({graded({failed_test(nasty)})});
    EXPECT_TRUE(is_clean(text));
    const auto start = text.find("\n```") + 1;
    const auto fence = text.substr(start, text.find("text\n", start) - start);
    EXPECT_EQ(fence.find_first_not_of('`'), fence.npos) << fence;
    const auto content = text.substr(start + fence.size() + 5);
    EXPECT_EQ(content, distlab::clean(nasty) + "\n" + fence + "\n");
    EXPECT_EQ(content.find(fence), content.size() - fence.size() - 1) << content;
  }
}

}  // namespace
