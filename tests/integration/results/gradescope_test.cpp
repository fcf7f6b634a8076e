#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/json.h"
#include "distlab/results/results.h"
#include "distlab/results/text.h"
#include "samples.h"

namespace {

using distlab::as_gradescope;
using namespace results_test;
using Json = nlohmann::json;

bool contains(const Json& text, const std::string& part) {
  return text.get<std::string>().find(part) != std::string::npos;
}

TEST(Gradescope, HasEachTestWithItsPlace) {
  const auto json = Json::parse(as_gradescope(usual()));
  EXPECT_EQ(json.at("score"), 7);
  EXPECT_TRUE(contains(json.at("output"), "7 of 100 points"));
  EXPECT_TRUE(contains(json.at("output"), "./distlab grade 5 --seed 17"));
  ASSERT_EQ(json.at("tests").size(), 3U);
  EXPECT_EQ(
      json["tests"][1],
      (Json{{"number", "1.2"},
            {"name", "only the root sends"},
            {"name_format", "text"},
            {"score", 0},
            {"max_score", 10},
            {"status", "failed"},
            {"output", "rank 2: got 3, expected 4\nPerhaps: the root sends to all, and it is one of all."},
            {"output_format", "text"},
            {"visibility", "visible"}}));
  EXPECT_EQ(json["tests"][0].at("status"), "passed");
  EXPECT_EQ(json["tests"][2].at("number"), "2.1") << "counting starts again in each part";
  EXPECT_EQ(json["tests"][2].at("status"), "failed") << "todo is not a status of Gradescope's";
}

TEST(Gradescope, SaysWhoseFaultUngradedIs) {
  const auto json = Json::parse(as_gradescope(ungraded("no \x1b memory \xff")));
  EXPECT_EQ(json.at("score"), 0);
  EXPECT_TRUE(json.at("tests").empty());
  EXPECT_TRUE(contains(json.at("output"), "ungraded: the grader failed, not you; tell your instructor"));
  EXPECT_TRUE(contains(json.at("output"), "no \\x1b memory"));
}

TEST(Gradescope, SaysThatGradingHasNotFinished) {
  auto record = usual();
  record.is_finished = false;
  auto json = Json::parse(as_gradescope(record));
  EXPECT_EQ(json.at("score"), 7);
  EXPECT_EQ(json.at("tests").size(), 3U) << "those that have run";
  EXPECT_TRUE(contains(json.at("output"), "grading has not finished"));
  record.grade.reset();  // before the first test
  json = Json::parse(as_gradescope(record));
  EXPECT_EQ(json.at("score"), 0);
  EXPECT_TRUE(contains(json.at("output"), "grading has not finished"));
}

TEST(Gradescope, SaysWhenThereWasNoSandbox) {
  auto record = usual();
  EXPECT_FALSE(contains(Json::parse(as_gradescope(record)).at("output"), "Practice"));
  record.grade->isolation = "limits";
  EXPECT_TRUE(contains(Json::parse(as_gradescope(record)).at("output"), "Practice, not a trusted grade"));
}

TEST(Gradescope, ShowsWhyThereWasNothingToTest) {
  auto record = graded({});
  record.reason = "broadcast.cpp:3: error: expected ;";
  EXPECT_TRUE(contains(Json::parse(as_gradescope(record)).at("output"), record.reason));
}

TEST(Gradescope, KeepsEveryText) {
  for (const auto& text : nasty_texts()) {
    const auto json = Json::parse(as_gradescope(graded({failed_test(text)})));
    EXPECT_EQ(json.at("tests").at(0).at("output"), distlab::clean(text));
  }
}

TEST(PlainJson, OfOneLabIsAnObjectAndOfSeveralAnArray) {
  const auto one = Json::parse(distlab::as_json(usual()));
  EXPECT_EQ(one.at("status"), "graded");
  EXPECT_EQ(one.at("score"), 7);
  EXPECT_EQ(one.at("tests").at(1).at("misconception").at("name"), "sends_to_itself");
  const auto all = Json::parse(distlab::as_json(std::vector{usual(), ungraded("no memory")}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], one);
  EXPECT_EQ(all[1].at("reason"), "no memory");
}

TEST(PlainJson, CleansEveryText) {
  for (const auto& text : nasty_texts()) {
    auto record = graded({failed_test(text)});
    record.reason = text;
    const auto written = distlab::as_json(record);
    EXPECT_TRUE(is_clean(written)) << written;
    const auto json = Json::parse(written);
    EXPECT_EQ(json.at("tests").at(0).at("messages").at(0), distlab::clean(text));
    EXPECT_EQ(json.value("reason", ""), distlab::clean(text));
  }
}

}  // namespace
