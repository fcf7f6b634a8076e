// The tables of a class: what they count, and that no name breaks them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/class/grades.h"
#include "distlab/class/tally.h"
#include "integration/results/samples.h"

namespace {

using namespace distlab;
using Json = nlohmann::json;

GradedTest test(const std::string& name, bool passed, const std::string& misconception = "") {
  GradedTest one;
  one.name = name;
  one.max_points = 50;
  one.points = passed ? 50 : 0;
  one.result = passed ? GradedTest::Result::passed : GradedTest::Result::failed;
  one.misconception = misconception;
  one.explanation = misconception.empty() ? "" : "it is thought that " + misconception;
  return one;
}

ClassResult graded(const std::string& name, int score, const std::vector<GradedTest>& tests) {
  Grade grade;
  grade.score = score;
  grade.max_score = full_score;
  grade.is_trusted = true;
  grade.tests = tests;
  return {.name = name, .key = "", .status = ClassResult::Status::graded, .gradings = {grade, grade}};
}

ClassResult refused(const std::string& name, const std::string& reason) {
  return {.name = name, .key = "", .status = ClassResult::Status::refused, .reason = reason};
}

TEST(ClassTally, CountsScoresTestsAndMisconceptions) {
  ClassGrades grades;
  grades.results = {graded("ann", 100, {test("a", true), test("b", true)}),
                    graded("bob", 9, {test("a", false, "x"), test("b", false, "x")}),
                    graded("eve", 10, {test("a", true), test("b", false, "y")}),
                    graded("kim", 99, {test("a", true), test("b", false, "y")}),
                    refused("lee", "nothing"),
                    {.name = "max", .key = ""}};
  const auto tally = tally_of(grades);
  EXPECT_EQ(tally.graded, 4);
  EXPECT_EQ(tally.refused, 1);
  EXPECT_EQ(tally.ungraded, 1);
  EXPECT_EQ(tally.scores, (std::array{2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(tally.median, 10) << "0, 9, 10, 99, 100";
  EXPECT_DOUBLE_EQ(tally.mean, 43.6);
  ASSERT_EQ(tally.tests.size(), 2U);
  EXPECT_EQ(tally.tests[0].passed, 3);
  EXPECT_EQ(tally.tests[1].passed, 1);
  ASSERT_EQ(tally.misconceptions.size(), 2U);
  EXPECT_EQ(tally.misconceptions[0].name, "y") << "the most common first";
  EXPECT_EQ(tally.misconceptions[1].students, std::vector<std::string>{"bob"})
      << "once, though twice diagnosed";
}

TEST(ClassTally, OfNobodyIsNothing) {
  const auto tally = tally_of({});
  EXPECT_DOUBLE_EQ(tally.mean, 0);
  EXPECT_FALSE(as_html({}).empty());
}

TEST(ClassResultTest, SamePointsForOtherTestsAreFlaky) {
  auto result = graded("ann", 50, {test("a", true), test("b", false)});
  EXPECT_FALSE(result.is_flaky());
  result.gradings[1].tests = {test("a", false), test("b", true)};
  EXPECT_TRUE(result.is_flaky());
  result.gradings[1].score = 40;
  EXPECT_EQ(result.score(), 40);
  EXPECT_EQ(first_failing(result)->name, "a");
}

TEST(ClassResultTest, ComesBackFromItsJson) {
  auto result = graded("ann", 50, {test("a", true), test("b", false, "x")});
  result.key = "k";
  result.seconds = 2.5;
  result.gradings[1].seed = "18446744073709551615";
  const auto back = read_class_result(as_json(result));
  EXPECT_EQ(as_json(back), as_json(result));
  EXPECT_EQ(back.lower().tests.at(1).explanation, "it is thought that x");
  EXPECT_TRUE(back.gradings[0].is_trusted);
}

TEST(ClassResultTest, AnUnreadableFileIsNoResult) {
  for (const std::string text : {"", "{", "[]", "{}", "{\"status\": \"graded\"}", "{\"status\": 7}"})
    EXPECT_EQ(read_class_result(text).status, ClassResult::Status::ungraded) << text;
}

// Every start tag has its end; prints what it loads or runs, then the text.
constexpr auto read_html = R"(
import html.parser, json, sys
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(); self.open = []; self.text = ""; self.foreign = []
    def handle_starttag(self, tag, attributes):
        if tag != "meta": self.open.append(tag)
        names = {name for name, value in attributes}
        if tag in ("script", "link", "img", "iframe", "a") or names & {"src", "href"} or any(n.startswith("on") for n in names):
            self.foreign.append(tag)
    def handle_endtag(self, tag):
        if self.open.pop() != tag: self.foreign.append("unbalanced " + tag)
    def handle_data(self, data):
        if self.open[-1:] != ["style"]: self.text += data
page = Page(); page.feed(sys.stdin.buffer.read().decode("utf-8")); page.close()
print(json.dumps({"foreign": page.foreign + page.open, "text": page.text}))
)";

TEST(ClassReport, IsOnePageThatNoNameBreaks) {
  if (results_test::python_is_missing()) GTEST_SKIP() << "python3 reads the page";
  ClassGrades grades{.lab = "Lab 05: <b>", .seed = 7};
  for (const auto& text : results_test::nasty_texts()) {
    grades.results.push_back(graded(text, 50, {test(text, false, text), test("b", true)}));
    grades.results.push_back(refused(text, text));
  }
  const auto html = as_html(grades);
  const auto page = Json::parse(results_test::python(read_html, html));
  EXPECT_EQ(page.at("foreign"), Json::array()) << html;
  const std::string text = page.at("text");
  EXPECT_NE(text.find("<script>"), text.npos) << "as text";
  EXPECT_NE(text.find("Lab 05: <b>"), text.npos);
  EXPECT_TRUE(results_test::is_clean(html));
}

TEST(ClassCsv, HasARowForEachWhateverTheName) {
  if (results_test::python_is_missing()) GTEST_SKIP() << "python3 reads the CSV";
  ClassGrades grades;
  for (const auto& text : results_test::nasty_texts()) grades.results.push_back(refused(text, text));
  constexpr auto script = R"(
import csv, io, json, sys
text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
print(json.dumps(list(csv.reader(text, strict=True))))
)";
  const auto rows = Json::parse(results_test::python(script, as_csv(grades)));
  ASSERT_EQ(rows.size(), grades.results.size() + 1);
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 11U) << row;
    EXPECT_FALSE(row.at(0).get<std::string>().starts_with("=")) << row;
  }
}

}  // namespace
