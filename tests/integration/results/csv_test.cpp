#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/results/results.h"
#include "distlab/results/text.h"
#include "samples.h"

namespace {

using distlab::as_csv;
using namespace results_test;
using Json = nlohmann::json;

// As Python's reader reads it: a list of {column: cell}.
Json csv_as_json(const std::string& csv) {
  constexpr auto script = R"(
import csv, io, json, sys
text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
print(json.dumps(list(csv.DictReader(text, strict=True))))
)";
  const auto text = python(script, csv);
  const auto json = Json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text << csv;
  return json;
}

class Csv : public testing::Test {
 protected:
  void SetUp() override {
    if (python_is_missing()) GTEST_SKIP() << "python3 reads the CSV";
  }
};

TEST_F(Csv, HasARowForEachTest) {
  const auto rows = csv_as_json(as_csv({usual(), usual()}));
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(
      rows[1],
      (Json{{"lab", "05_broadcast"},
            {"graded_file", "lab"},
            {"status", "graded"},
            {"score", "7"},
            {"max_score", "100"},
            {"part", "1"},
            {"test", "Part1Flat.only_the_root_sends"},
            {"result", "failed"},
            {"points", "0"},
            {"max_points", "10"},
            {"misconception", "sends_to_itself"},
            {"message", "rank 2: got 3, expected 4\nPerhaps: the root sends to all, and it is one of all."},
            {"seed", "17"},
            {"isolation", "bubblewrap"}}));
}

TEST_F(Csv, HasARowForALabWithoutTests) {
  const auto rows = csv_as_json(as_csv({ungraded("no memory"), graded({})}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("status"), "ungraded");
  EXPECT_NE(rows[0].at("message").get<std::string>().find("no memory"), std::string::npos);
  EXPECT_EQ(rows[1].at("status"), "graded");
  EXPECT_EQ(csv_as_json(as_csv({})).size(), 0U) << "the header alone";
}

TEST_F(Csv, KeepsEveryTextAndRunsNone) {
  std::vector<GradedTest> tests;
  for (const auto& text : nasty_texts()) tests.push_back(failed_test(text));
  const auto rows = csv_as_json(as_csv({graded(tests)}));
  ASSERT_EQ(rows.size(), tests.size());
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const auto text = distlab::clean(nasty_texts()[i]);
    const std::string cell = rows[i].at("message");
    EXPECT_TRUE(cell == text || cell == "'" + text) << cell;
    EXPECT_TRUE(cell.empty() || std::string("=+-@\t\r\n").find(cell.front()) == std::string::npos) << cell;
    EXPECT_FALSE(cell.starts_with("\xef\xbc\x9d")) << cell;
  }
}

TEST(CsvLines, EndAsRfc4180Says) {
  const auto csv = as_csv({ungraded("x")});
  EXPECT_TRUE(csv.starts_with("\xEF\xBB\xBFlab,graded_file,status,")) << csv;
  EXPECT_TRUE(csv.ends_with("\r\n")) << csv;
}

}  // namespace
