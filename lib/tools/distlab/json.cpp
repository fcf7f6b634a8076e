#include "distlab/json.h"

#include <string_view>
#include <utility>

#include "dist/core/json.h"

#include "distlab/build_info.h"
#include "distlab/results/json_text.h"

namespace distlab {
namespace {

using dist::Json, dist::OrderedJson;

Json to_json(const Grade& grade) {
  Json tests = Json::array();
  for (const auto& test : grade.tests) {
    tests.push_back({{"name", test.name},
                     {"part", test.part},
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
          {"tests", tests}};
}

Json to_json(const GradeRecord& record) {
  Json json = record.grade ? to_json(*record.grade) : Json::object();
  if (!record.reason.empty()) json["reason"] = record.reason;
  if (!record.note.empty()) json["note"] = record.note;
  json["status"] = record.grade ? "graded" : "ungraded";
  json["lab"] = record.lab;
  json["graded_file"] = record.graded_file;
  return json;
}

std::string_view name(Health health) {
  switch (health) {
    case Health::good: return "good";
    case Health::absent: return "absent";
    case Health::bad: return "bad";
  }
  __builtin_unreachable();
}

}  // namespace

std::string as_json(const GradeRecord& record) { return clean_json_text(to_json(record)); }

std::string as_json(const std::vector<GradeRecord>& records) {
  Json all = Json::array();
  for (const auto& record : records) all.push_back(to_json(record));
  return clean_json_text(std::move(all));
}

std::string as_json(const std::vector<Section>& sections) {
  OrderedJson all;
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
  return clean_json_text(std::move(all));
}

}  // namespace distlab
