#include <fmt/format.h>

#include "distlab/results/results.h"
#include "distlab/results/text.h"

namespace distlab {
namespace {

// Escapes text, or an attribute in double quotes, in which a newline would be read as a space.
std::string xml(const std::string& bytes, bool is_attribute = true) {
  std::string text;
  for (const char c : clean(bytes)) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;  // "]]>" is not allowed in a text
      case '"': text += "&quot;"; break;
      case '\n': text += is_attribute ? "&#10;" : "\n"; break;
      case '\t': text += is_attribute ? "&#9;" : "\t"; break;
      default: text += c;
    }
  }
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0;
  double seconds = 0;

  Counts& operator+=(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    seconds += other.seconds;
    return *this;
  }
  std::string attributes() const {
    return fmt::format(R"(tests="{}" failures="{}" errors="{}" time="{:.3f}")", tests, failures, errors,
                       seconds);
  }
};

// Returns the element that says what is wrong; `element` is "failure" or "error".
std::string complaint(const std::string& element, std::string_view type, const std::string& text) {
  return fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", element, xml(first_line(text)),
                     type, xml(text, false));
}

std::string testcase(const std::string& classname, const std::string& name, double seconds,
                     const std::string& content) {
  const auto start = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", xml(classname),
                                 xml(name), seconds);
  return content.empty() ? start + "/>\n" : fmt::format("{}>\n{}    </testcase>\n", start, content);
}

std::string properties_of(const GradeRecord& record) {
  std::string text = "    <properties>\n";
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml(value));
  };
  add("graded_file", record.graded_file);
  add("status", std::string(status(record)));
  if (record.grade) {
    add("score", std::to_string(record.grade->score));
    add("max_score", std::to_string(record.grade->max_score));
    add("seed", record.grade->seed);
    add("isolation", record.grade->isolation);
  }
  return text + "    </properties>\n";
}

// A lab without tests has one testcase that says why. Returns an empty text when there is no reason to give.
std::string grading_case(const GradeRecord& record, Counts& counts) {
  if (record.grade && record.reason.empty()) return "";
  counts.tests = 1;
  counts.failures = record.grade ? 1 : 0;
  counts.errors = record.grade ? 0 : 1;
  return testcase(record.lab, "grading", 0,
                  record.grade ? complaint("failure", "failed", record.reason)
                               : complaint("error", "ungraded", apology(record)));
}

std::string test_cases(const GradeRecord& record, Counts& counts) {
  std::string cases;
  for (const auto& test : record.grade->tests) {
    const auto dot = test.name.find('.');
    const bool passed = test.result == GradedTest::Result::passed;
    counts += {.tests = 1, .failures = passed ? 0U : 1U, .errors = 0, .seconds = test.seconds};
    cases += testcase(record.lab + "." + test.name.substr(0, dot), test.name.substr(dot + 1), test.seconds,
                      passed ? "" : complaint("failure", name(test.result), explanation_of(test)));
  }
  return cases;
}

std::string suite(const GradeRecord& record, Counts& all) {
  Counts counts;
  const bool has_tests = record.grade && !record.grade->tests.empty();
  const auto cases = has_tests ? test_cases(record, counts) : grading_case(record, counts);
  all += counts;
  return fmt::format("  <testsuite name=\"{}\" {} skipped=\"0\">\n{}{}  </testsuite>\n", xml(record.lab),
                     counts.attributes(), properties_of(record), cases);
}

}  // namespace

std::string as_junit(const std::vector<GradeRecord>& records) {
  Counts all;
  std::string suites;
  for (const auto& record : records) suites += suite(record, all);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"distlab\" {}>\n{}</testsuites>\n",
      all.attributes(), suites);
}

}  // namespace distlab
