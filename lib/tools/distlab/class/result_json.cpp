#include <utility>

#include "dist/core/json.h"
#include "dist/core/json_error.h"

#include "distlab/class/class_result.h"
#include "distlab/class/grades.h"
#include "distlab/json.h"
#include "distlab/results/json_text.h"

namespace distlab {
namespace {

using Json = dist::OrderedJson;

// Returns the JSON of `grade --json`.
Json to_json(const Grade& grade) {
  GradeRecord record;
  record.graded_file = "submission";
  record.grade = grade;
  return dist::parse_ordered_json(as_json(record));
}

Json to_json(const ClassResult& result) {
  Json json{{"name", result.name},
            {"status", name(result.status)},
            {"score", result.score()},
            {"flaky", result.is_flaky()},
            {"mode", result.gradings.empty() ? ""
                     : result.is_practice()  ? "practice"
                                             : "trusted"},
            {"reason", result.reason},
            {"seconds", result.seconds},
            {"key", result.key},
            {"gradings", Json::array()}};
  for (const auto& grade : result.gradings) json["gradings"].push_back(to_json(grade));
  return json;
}

GradedTest read_test(const Json& json) {
  using Result = GradedTest::Result;
  GradedTest test;
  json.at("name").get_to(test.name);
  json.at("part").get_to(test.part);
  json.at("points").get_to(test.points);
  json.at("max_points").get_to(test.max_points);
  json.at("messages").get_to(test.messages);
  for (const auto result : {Result::passed, Result::failed, Result::todo}) {
    if (json.at("result") == name(result)) test.result = result;
  }
  if (json.contains("misconception")) {
    json["misconception"].at("name").get_to(test.misconception);
    json["misconception"].at("text").get_to(test.explanation);
  }
  return test;
}

Grade read_grade(const Json& json) {
  Grade grade;
  json.at("score").get_to(grade.score);
  json.at("max_score").get_to(grade.max_score);
  json.at("seed").get_to(grade.seed);
  json.at("isolation").get_to(grade.isolation);
  grade.is_trusted = json.at("mode") == "trusted";
  for (const auto& test : json.at("tests")) grade.tests.push_back(read_test(test));
  return grade;
}

ClassResult read_result(const Json& json) {
  using Status = ClassResult::Status;
  ClassResult result;
  for (const auto status : {Status::graded, Status::refused}) {
    if (json.at("status") == name(status)) result.status = status;
  }
  json.at("name").get_to(result.name);
  json.at("key").get_to(result.key);
  json.at("reason").get_to(result.reason);
  json.at("seconds").get_to(result.seconds);
  for (const auto& grade : json.at("gradings")) result.gradings.push_back(read_grade(grade));
  return result;
}

}  // namespace

std::string as_json(const ClassResult& result) { return clean_json_text(to_json(result)) + "\n"; }

ClassResult read_class_result(const std::string& text) {
  try {
    return read_result(dist::parse_ordered_json(text));
  } catch (const Json::exception& error) {
    ClassResult unread;
    unread.reason = "result.json cannot be read: " + dist::json_error(error.what());
    return unread;
  }
}

std::string as_json(const ClassGrades& grades) {
  Json json{{"lab", grades.lab}, {"seed", std::to_string(grades.seed)}, {"submissions", Json::array()}};
  for (const auto& result : grades.results) json["submissions"].push_back(to_json(result));
  return clean_json_text(std::move(json)) + "\n";
}

}  // namespace distlab
