#include "distlab/grade_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "distlab/results/text.h"
#include "distlab/starter.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace {

namespace fs = std::filesystem;

// Notes may quote a student's program: clean() removes bytes that would control the terminal.
void print_note(std::string_view text, Style style) {
  constexpr int indent = 10;
  fmt::print("{}", indented(clean(text), style, indent, terminal_width()));
}

}  // namespace

// Prints the tests of a grade in order. If several tests fail with the same message, for example because
// something is not written yet, the message is printed once; so is a diagnosis. A test without a diagnosis
// that fails after an earlier part has failed may only follow from that.
class TestPrinter {
 public:
  explicit TestPrinter(bool quiet) : quiet_(quiet) {}

  void print(const GradedTest& test) {
    const bool passed = test.result == GradedTest::Result::passed;
    const bool failed = test.result == GradedTest::Result::failed;
    if (failed && failed_part_ == 0) failed_part_ = test.part;
    const auto first = passed ? test.name : first_to_say(test);
    const bool is_first = first == test.name, is_as_before = !is_first && first == before_;
    const bool may_follow = failed && failed_part_ < test.part && test.explanation.empty() &&
                            (is_first || folded_.contains(first));
    before_ = first;
    fmt::print(
        "  {} {:>2}/{:<2}  {}{}{}\n", styled(passed ? Style::good : Style::bad, passed ? "✓" : "✗"),
        test.points, test.max_points, title_of(test.name),
        is_as_before && !may_follow ? styled(Style::dim, ": the same message") : "",
        may_follow ? styled(Style::dim, fmt::format(": part {} fails; begin there", failed_part_)) : "");
    if (may_follow) {
      folded_.insert(test.name);
      return;
    }
    if (is_first)
      print_notes(test);
    else if (!is_as_before)
      print_note(fmt::format("the same as \"{}\" above", title_of(first)), Style::dim);
  }

 private:
  // The first test that failed with this message and diagnosis.
  std::string first_to_say(const GradedTest& test) {
    const auto message = test.messages.empty() ? "" : test.messages.front();
    return told_.try_emplace({message, test.explanation}, test.name).first->second;
  }

  void print_notes(const GradedTest& test) {
    const auto& messages = test.messages;
    const auto diagnosed = test.explanation.empty()
                               ? test.name
                               : diagnosed_.try_emplace(test.explanation, test.name).first->second;
    if (diagnosed != test.name && !quiet_) {
      if (!messages.empty()) print_note(messages[0].substr(0, messages[0].find('\n')), Style::dim);
      return print_note(fmt::format("Perhaps for the same reason as \"{}\" above", title_of(diagnosed)),
                        Style::warn);
    }
    if (!messages.empty()) print_note(messages[0], Style::dim);
    if (messages.size() > 1 && messages[1] != messages[0])  // "that was ...", which names the call
      print_note(messages[1], Style::dim);
    if (!test.explanation.empty() && !quiet_) print_note("Perhaps: " + test.explanation, Style::warn);
  }

  const bool quiet_;
  int failed_part_ = 0;                                              // the first one; 0: none
  std::set<std::string> folded_;                                     // tests whose messages were left out
  std::map<std::pair<std::string, std::string>, std::string> told_;  // by message and diagnosis: the test
  std::map<std::string, std::string> diagnosed_;                     // by diagnosis: the test
  std::string before_;  // what first_to_say() returned for the previous test
};

namespace {

// Prints the first part that is not complete, and where to read about it.
void print_next_part(const Lab& lab, const GradedTest& test, const std::string& seed) {
  fmt::print("Next: part {} in {}\n", test.part, fs::relative(edited_file(lab), workspace().root).string());
  fmt::print("      a hint: ./distlab hint {}\n", lab.number);
  if (test.has_picture) fmt::print("      its messages as a picture: ./distlab trace {}\n", lab.number);
  fmt::print("      the same random tests again: ./distlab grade {} --seed {}\n", lab.number, seed);
}

// Prints what comes after a lab that is done.
void print_next_lab(const Lab& lab) {
  const auto labs = find_labs();
  const auto next = std::ranges::upper_bound(labs, lab.number, {}, &Lab::number);
  fmt::print(
      "Next: {}{}\n",
      has_solution(lab) ? fmt::format("compare your code with ./distlab solution {}, then ", lab.number) : "",
      next == labs.end() ? "./distlab train, a complete training run: this was the last lab"
                         : fmt::format("./distlab start {}", next->number));
}

// Prints where another file of the lab's name is, if the lab's own is untouched: students save it elsewhere
// by mistake.
void print_misplaced(const Lab& lab) {
  if (is_begun(lab)) return;
  const auto graded = edited_file(lab);
  for (const auto& folder : {fs::current_path(), workspace().root, workspace().root / "labs"}) {
    const auto other = folder / graded.filename();
    if (!fs::exists(other) || fs::equivalent(other, graded)) continue;
    fmt::print("{} is untouched, and only this file was graded; yours may be {}: move it there\n",
               fs::relative(graded, workspace().root).string(), other.string());
    return;
  }
}

void print_next(const Lab& lab, const GradeRecord& record) {
  const Grade& grade = *record.grade;
  const auto failed = std::ranges::find_if(
      grade.tests, [](const GradedTest& test) { return test.result != GradedTest::Result::passed; });
  if (failed != grade.tests.end())
    print_next_part(lab, *failed, grade.seed);
  else if (record.graded_file == "lab" && grade.is_full())
    print_next_lab(lab);
}

}  // namespace

GradeText::GradeText(const Lab& lab, bool quiet) : lab_(lab), tests_(std::make_unique<TestPrinter>(quiet)) {
  waiting_.show("starting the tests");
}

GradeText::~GradeText() = default;

void GradeText::add(const Grade& so_far) {
  if (!stdout_is_terminal()) return;
  waiting_.clear();
  print_title();
  print_tests(so_far);
  waiting_.show(running_test(so_far));
}

void GradeText::print_title() {
  if (!std::exchange(has_title_, true)) fmt::print("{}\n", styled(Style::bold, lab_.title));
}

void GradeText::print_tests(const Grade& grade) {
  for (; printed_ < grade.tests.size(); ++printed_) {
    const auto& test = grade.tests[printed_];
    if (test.part != part_) fmt::print("part {}\n", test.part);
    part_ = test.part;
    tests_->print(test);
  }
}

void GradeText::end(const GradeRecord& record) {
  waiting_.clear();
  const Grade& grade = *record.grade;
  print_title();
  for (const auto& said : {record.reason, record.note})
    if (!said.empty()) fmt::print("{}\n", clean(said));
  print_tests(grade);
  fmt::print("\n{}\n", styled(grade.is_full() ? Style::good : Style::bold,
                              fmt::format("Score {} of {}", grade.score, grade.max_score)));
  if (grade.isolation == "limits" ||
      (record.graded_file == "submission" && !grade.tests.empty() && !grade.is_trusted))
    fmt::print(
        "Practice, not a trusted grade: your code ran without a sandbox\n"
        "(./distlab doctor says why).\n");
  if (record.graded_file == "lab") print_misplaced(lab_);
  print_next(lab_, record);
}

}  // namespace distlab
