#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "dist/core/json.h"

#include "distlab/results/json_text.h"
#include "distlab/results/results.h"
#include "distlab/results/text.h"

namespace distlab {
namespace {

using dist::OrderedJson;

// Numbered "2.3": the third test of part 2.
OrderedJson tests_of(const Grade& grade) {
  OrderedJson tests = OrderedJson::array();
  int part = -1, index = 0;
  for (const auto& test : grade.tests) {
    index = test.part == part ? index + 1 : 1;
    part = test.part;
    tests.push_back({{"number", fmt::format("{}.{}", part, index)},
                     {"name", title_of(test.name)},
                     {"name_format", "text"},
                     {"score", test.points},
                     {"max_score", test.max_points},
                     {"status", test.result == GradedTest::Result::passed ? "passed" : "failed"},
                     {"output", explanation_of(test)},
                     {"output_format", "text"},
                     {"visibility", "visible"}});
  }
  return tests;
}

std::string words_of(const GradeRecord& record) {
  if (!record.grade && record.is_finished) return apology(record);
  auto words = record.lab + ": " + summary(record);
  for (const auto& more : {record.reason, record.note, caveat(record)})
    words += (more.empty() ? "" : "\n") + more;
  if (!record.grade || record.grade->seed.empty()) return words;
  return fmt::format("{}\nTo run the same random tests at home: ./distlab grade {} --seed {}", words,
                     std::atoi(record.lab.c_str()), record.grade->seed);
}

}  // namespace

std::string as_gradescope(const GradeRecord& record) {
  const Grade nothing;
  const auto& grade = record.grade ? *record.grade : nothing;
  OrderedJson json{{"score", grade.score},
                   {"output", words_of(record)},
                   {"output_format", "text"},
                   {"visibility", "visible"},
                   {"stdout_visibility", "hidden"},  // it would repeat the same
                   {"tests", tests_of(grade)},
                   {"extra_data",
                    {{"lab", record.lab},
                     {"status", status(record)},
                     {"seed", grade.seed},
                     {"isolation", grade.isolation}}}};
  return clean_json_text(std::move(json)) + "\n";
}

}  // namespace distlab
