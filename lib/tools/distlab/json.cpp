#include "distlab/json.h"

#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "distlab/build_info.h"

namespace distlab {
namespace {

using Json = nlohmann::json;

// GoogleTest's "file:line\nFailed\n<text>" without what is of no use to the reader.
std::string message_of(std::string text) {
  text.erase(0, text.find('\n') + 1);
  const std::string_view noise = "Failed\n";
  if (text.starts_with(noise)) text.erase(0, noise.size());
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

GradedTest read_test(const Json& json) {
  GradedTest test;
  test.name = json.at("classname").get<std::string>() + "." + json.at("name").get<std::string>();
  test.step = std::stoi(json.value("step", "0"));
  test.max_points = std::stoi(json.value("points", "0"));
  test.misconception = json.value("hint", "");
  test.explanation = json.value("hint_text", "");
  for (const auto& failure : json.value("failures", Json::array())) {
    test.messages.push_back(message_of(failure.at("failure")));
  }
  const bool passed = test.messages.empty() && json.value("result", "") == "COMPLETED";
  if (passed) test.points = test.max_points;
  test.result = passed                  ? GradedTest::Result::passed
                : json.contains("todo") ? GradedTest::Result::todo
                                        : GradedTest::Result::failed;
  return test;
}

Grade read_report(const Json& report) {
  Grade grade;
  grade.seed = report.value("seed", "");
  grade.isolation = report.value("isolation", "limits");
  for (const auto& suite : report.at("testsuites")) {
    for (const auto& json : suite.at("testsuite")) {
      grade.tests.push_back(read_test(json));
      grade.score += grade.tests.back().points;
      grade.max_score += grade.tests.back().max_points;
    }
  }
  return grade;
}

Json to_json(const Grade& grade) {
  Json tests = Json::array();
  for (const auto& test : grade.tests) {
    tests.push_back({{"name", test.name},
                     {"step", test.step},
                     {"points", test.points},
                     {"max_points", test.max_points},
                     {"result", name(test.result)},
                     {"messages", test.messages}});
    if (test.misconception.empty()) continue;
    tests.back()["misconception"] = {{"name", test.misconception}, {"text", test.explanation}};
  }
  return {{"score", grade.score},
          {"max_score", grade.max_score},
          {"seed", grade.seed},
          {"isolation", grade.isolation},
          {"mode", grade.is_trusted ? "trusted" : "practice"},
          {"refused", grade.refused},
          {"tests", tests}};
}

std::string_view name(Health health) {
  switch (health) {
    case Health::good: return "good";
    case Health::absent: return "absent";
    case Health::bad: return "bad";
  }
  __builtin_unreachable();
}

// Indented; bytes that are not UTF-8 are replaced.
template <class AnyJson>
std::string text_of(const AnyJson& json) {
  return json.dump(2, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace

Grade read_judge_report(const std::filesystem::path& path) {
  std::ifstream file(path);
  return read_report(Json::parse(file));
}

std::string as_json(const GradeRecord& record) {
  Json json = record.grade ? to_json(*record.grade) : Json{{"reason", record.reason}};
  json["status"] = record.grade ? "graded" : "ungraded";
  json["lab"] = record.lab;
  json["graded_file"] = record.graded_file;
  return text_of(json);
}

std::string as_json(const std::vector<Section>& sections) {
  nlohmann::ordered_json all;
  all["distlab"] = build_info().version;
  for (const auto& section : sections) {
    for (const auto& finding : section.findings) {
      all["findings"].push_back({{"section", section.title},
                                 {"topic", finding.topic},
                                 {"health", name(finding.health)},
                                 {"found", finding.found},
                                 {"cost", finding.cost}});
    }
  }
  return text_of(all);
}

}  // namespace distlab
