#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/results/results.h"
#include "distlab/results/text.h"
#include "samples.h"

namespace {

using distlab::as_junit;
using namespace results_test;
using Json = nlohmann::json;

// As Python's XML parser reads it: {"tag", "text", attributes, "children"}.
Json xml_as_json(const std::string& xml) {
  constexpr auto script = R"(
import json, sys, xml.etree.ElementTree as tree
def plain(e):
    return {**e.attrib, "tag": e.tag, "text": e.text or "", "children": [plain(c) for c in e]}
print(json.dumps(plain(tree.fromstring(sys.stdin.buffer.read()))))
)";
  const auto text = python(script, xml);
  const auto json = Json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text << xml;
  return json;
}

class Junit : public testing::Test {
 protected:
  void SetUp() override {
    if (python_is_missing()) GTEST_SKIP() << "python3 reads the XML";
  }
};

// The children of a suite are its properties, then the test cases.
Json cases_of(const Json& suite) {
  Json cases = suite.at("children");
  cases.erase(cases.begin());
  return cases;
}

TEST_F(Junit, HasASuiteForEachLabAndCounts) {
  const auto xml = xml_as_json(as_junit({usual(), ungraded("no memory"), graded({})}));
  EXPECT_EQ(xml.at("tag"), "testsuites");
  EXPECT_EQ(xml.at("tests"), "4");
  EXPECT_EQ(xml.at("failures"), "2");
  EXPECT_EQ(xml.at("errors"), "1");
  ASSERT_EQ(xml.at("children").size(), 3U);
  const auto suite = xml["children"][0];
  EXPECT_EQ(suite.at("tag"), "testsuite");
  EXPECT_EQ(suite.at("name"), "05_broadcast");
  EXPECT_EQ(suite.at("tests"), "3");
  EXPECT_EQ(suite.at("failures"), "2");
  EXPECT_EQ(suite.at("skipped"), "0");
  EXPECT_EQ(cases_of(suite).size(), 3U);
  EXPECT_EQ(xml["children"][2].at("tests"), "0");
}

TEST_F(Junit, SaysWhatIsWrong) {
  const auto cases = cases_of(xml_as_json(as_junit({usual()})).at("children").at(0));
  EXPECT_EQ(cases.at(0).at("classname"), "05_broadcast.Part1Flat");
  EXPECT_EQ(cases[0].at("name"), "every_root");
  EXPECT_EQ(cases[0].at("time"), "0.250");
  EXPECT_TRUE(cases[0].at("children").empty());
  const auto failure = cases.at(1).at("children").at(0);
  EXPECT_EQ(failure.at("tag"), "failure");
  EXPECT_EQ(failure.at("type"), "failed");
  EXPECT_EQ(failure.at("message"), "rank 2: got 3, expected 4");
  EXPECT_EQ(failure.at("text"),
            "rank 2: got 3, expected 4\nPerhaps: the root sends to all, and it is one of all.");
  EXPECT_EQ(cases.at(2).at("children").at(0).at("type"), "todo");
}

TEST_F(Junit, UngradedIsAnErrorOfTheGraderAndNoFailure) {
  const auto suite = xml_as_json(as_junit({ungraded("no memory")})).at("children").at(0);
  EXPECT_EQ(suite.at("errors"), "1");
  EXPECT_EQ(suite.at("failures"), "0");
  const auto error = cases_of(suite).at(0).at("children").at(0);
  EXPECT_EQ(error.at("tag"), "error");
  EXPECT_NE(error.at("text").get<std::string>().find("no memory"), std::string::npos);
}

TEST_F(Junit, AGradeWithoutTestsFailsForItsReason) {
  auto record = graded({});
  record.reason = "broadcast.cpp does not compile";
  const auto suite = xml_as_json(as_junit({record})).at("children").at(0);
  EXPECT_EQ(suite.at("failures"), "1");
  EXPECT_EQ(cases_of(suite).at(0).at("children").at(0).at("text"), record.reason);
}

TEST_F(Junit, KeepsEveryText) {
  std::vector<GradedTest> tests;
  for (const auto& text : nasty_texts()) {
    tests.push_back(failed_test(text));
    tests.back().name = "Suite." + text;
  }
  const auto cases = cases_of(xml_as_json(as_junit({graded(tests)})).at("children").at(0));
  ASSERT_EQ(cases.size(), tests.size());
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const auto text = distlab::clean(nasty_texts()[i]);
    EXPECT_EQ(cases[i].at("name"), text);
    EXPECT_EQ(cases[i].at("children").at(0).at("text"), text);
    EXPECT_EQ(cases[i]["children"][0].at("message"), text.substr(0, text.find('\n')));
  }
}

TEST_F(Junit, OfNothingIsStillXml) { EXPECT_EQ(xml_as_json(as_junit({})).at("tests"), "0"); }

}  // namespace
