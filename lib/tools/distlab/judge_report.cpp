#include "distlab/judge_report.h"

#include <fstream>
#include <iterator>

#include "dist/core/fail.h"
#include "dist/core/json.h"

namespace distlab {
namespace {

using dist::Errc, dist::fail, dist::Json;

GradedTest::Result result_of(const std::string& text) {
  for (const auto result :
       {GradedTest::Result::passed, GradedTest::Result::failed, GradedTest::Result::todo}) {
    if (text == name(result)) return result;
  }
  fail(Errc::internal, "the grader's report has an unknown result \"{}\"", text);
}

GradedTest read_test(const Json& line) {
  GradedTest test;
  test.name = line.at("suite").get<std::string>() + "." + line.at("name").get<std::string>();
  test.part = line.at("part");
  test.max_points = line.at("points");
  test.result = result_of(line.at("result"));
  test.seconds = line.at("seconds");
  test.messages = line.at("messages").get<std::vector<std::string>>();
  test.has_picture = line.value("picture", false);
  if (test.result == GradedTest::Result::passed) test.points = test.max_points;
  if (line.contains("misconception")) {
    test.misconception = line["misconception"].at("name");
    test.explanation = line["misconception"].at("text");
  }
  return test;
}

}  // namespace

void JudgeReport::read_more(const GradeSink& on_test) {
  std::ifstream file(file_, std::ios::binary);
  file.seekg(read_);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    read_ += static_cast<std::streamoff>(end + 1 - begin);
    take(text.substr(begin, end - begin), on_test);
  }
}

void JudgeReport::take(const std::string& text, const GradeSink& on_test) {
  const auto line = dist::parse_json(text);
  if (is_complete_) fail(Errc::internal, "the grader's report continues after its end");
  if (!has_begun_) {
    grade_.seed = line.at("seed");
    grade_.isolation = line.at("isolation");
    has_begun_ = true;
  } else if (line.contains("done")) {
    if (line.at("tests") != grade_.tests.size())
      fail(Errc::internal, "the grader's report says that it has {} tests, but has {}",
           dist::json_text(line.at("tests")), grade_.tests.size());
    is_complete_ = true;
  } else if (line.contains("planned")) {
    grade_.planned = line.at("planned");
    if (on_test) on_test(grade_);
  } else {
    grade_.tests.push_back(read_test(line));
    grade_.score += grade_.tests.back().points;
    grade_.max_score += grade_.tests.back().max_points;
    if (on_test) on_test(grade_);
  }
}

}  // namespace distlab
