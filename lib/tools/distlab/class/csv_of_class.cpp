#include <fmt/format.h>

#include "distlab/class/grades.h"
#include "distlab/results/csv.h"

namespace distlab {

std::string as_csv(const ClassGrades& grades) {
  std::string text = csv_header({"name", "score", "max_score", "flaky", "status", "isolation", "mode",
                                 "first_failing_test", "misconception", "seconds", "reason"});
  for (const auto& result : grades.results) {
    const bool is_graded = result.status == ClassResult::Status::graded;
    const bool is_ungraded = result.status == ClassResult::Status::ungraded;
    const auto* test = first_failing(result);
    text += csv_row({result.name, is_ungraded ? "" : std::to_string(result.score()),
                     std::to_string(full_score), result.is_flaky() ? "flaky" : "",
                     std::string(name(result.status)), is_graded ? result.lower().isolation : "",
                     !is_graded             ? ""
                     : result.is_practice() ? "practice"
                                            : "trusted",
                     test ? test->name : "", test ? test->misconception : "",
                     fmt::format("{:.1f}", result.seconds), result.reason});
  }
  return text;
}

}  // namespace distlab
