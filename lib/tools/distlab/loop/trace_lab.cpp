// distlab trace N: the messages of the failing test, as a picture.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/trace/recorder.h"

#include "distlab/commands.h"
#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/progress.h"
#include "distlab/results/text.h"
#include "distlab/temporary_folder.h"
#include "distlab/terminal.h"
#include "distlab/waiting.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

GradeRequest request_for(const Lab& lab, const TraceOptions& options) {
  const auto runner = options.runner.empty() ? lab_program(lab, "runner") : fs::absolute(options.runner);
  return {.program = lab_program(lab, "grade"), .runner = runner, .seed = options.seed};
}

Grade grade_and_say_how_far(GradeRequest request) {
  Waiting waiting("starting the tests");
  request.on_test = [&](const Grade& so_far) { waiting.show(running_test(so_far)); };
  return run_grading(request);
}

// Returns the progress after the lab's last grade. Grades of programs other than the lab's own are not kept.
LabProgress last_grade(const Lab& lab, const TraceOptions& options) {
  const auto progress = read_progress();
  const auto mine = progress.find(lab.folder);
  return options.runner.empty() && mine != progress.end() ? mine->second : LabProgress{};
}

// The same, but grades the lab first if the last grade does not say which test failed.
LabProgress graded(const Lab& lab, const TraceOptions& options) {
  const auto last = last_grade(lab, options);
  if (!last.failing.empty() || last.last == 100) return last;
  const auto grade = grade_and_say_how_far(request_for(lab, options));
  if (options.runner.empty()) note_progress(lab.folder, grade);
  return after_grade({}, grade);
}

// `test` may be the name that a grade prints ("two ranks swap"), or the test's own name or a part of it
// ("Part2Exchange.two_ranks_swap").
std::string filter_of(std::string test) {
  std::ranges::replace(test, ' ', '_');
  return fmt::format("*{}*", test);
}

// Returns the test to show: the first one that fails, or else the first one.
const GradedTest* chosen(const Grade& grade) {
  const auto failed = std::ranges::find_if(
      grade.tests, [](const GradedTest& test) { return test.result != GradedTest::Result::passed; });
  if (failed != grade.tests.end()) return &*failed;
  return grade.tests.empty() ? nullptr : &grade.tests.front();
}

void print_verdict(const GradedTest& test, const std::string& seed, std::FILE* out) {
  const bool passed = test.result == GradedTest::Result::passed;
  fmt::print(out, "{} {}  (part {}, seed {})\n",
             styled(passed ? Style::good : Style::bad, passed ? "✓" : "✗"), styled(Style::bold, test.name),
             test.part, seed);
  const int width = terminal_width();
  if (!test.messages.empty())
    fmt::print(out, "{}", indented(clean(test.messages.front()), Style::plain, 0, width));
  if (!test.explanation.empty())
    fmt::print(out, "{}", indented(clean("Perhaps: " + test.explanation), Style::warn, 0, width));
  fmt::print(out, "\n");
}

bool is_deadlock(const GradedTest& test) {
  return !test.messages.empty() && test.messages.front().find("D1 deadlock") != std::string::npos;
}

bool is_for_a_page(const TraceOptions& options) { return !options.html.empty() || !options.svg.empty(); }

// Shows the picture, and writes the file if the options name one: for Perfetto unless they name another
// format.
int show_run(const TraceOptions& options, const fs::path& trace) {
  TraceOptions picture = options;
  picture.files = {trace};
  if (options.output.empty() || is_for_a_page(options)) return show_trace_files(picture);
  if (options.format == "ascii") {
    picture.output.clear();
    show_trace_files(picture);
    picture.format = "chrome";
    picture.output = options.output;
  }
  show_trace_files(picture);
  fmt::print(
      "{}: {}\n", options.output.string(),
      picture.format == "chrome" ? "open it in https://ui.perfetto.dev" : "the trace for the animation");
  return exit_ok;
}

// Returns the reason, in one line, why this test has no picture.
std::string why_no_picture(const GradedTest& test, bool has_run) {
  if (test.result == GradedTest::Result::todo) return "the function that it tests is not written yet";
  const auto* const why = has_run ? "its ranks ran, but none of them sent or received anything"
                                  : "it calls your code and checks the result";
  const bool passed = test.result == GradedTest::Result::passed;
  return fmt::format("{}{}", why, passed ? "" : " (see the expected and the actual result above)");
}

// Shows the picture after the verdict. `again` is the command that shows both again.
int show_picture(const TraceOptions& options, const GradedTest& test, const fs::path& file,
                 const std::string& again) {
  using dist::trace::Event, dist::trace::Kind;
  const bool has_run = fs::exists(file);
  const auto events = has_run ? dist::trace::read_file(file).events : std::vector<Event>();
  if (events.empty()) {
    const auto told = fmt::format("This test sends no messages, so there is no picture: {}.",
                                  why_no_picture(test, has_run));
    fmt::print("{}\n", wrapped(told, terminal_width(), 0));
    return exit_ok;
  }
  const int shown = show_run(options, file);
  if (options.format != "ascii" || is_for_a_page(options)) return shown;
  const auto is_message = [](Kind kind) { return kind == Kind::send || kind == Kind::receive; };
  if (is_deadlock(test)) {
    if (std::ranges::find(events, Kind::wait, &Event::kind) != events.end())
      fmt::print("A wait at the end of a rank's line lasts until the timeout of its call.\n");
  } else if (std::ranges::none_of(events, is_message, &Event::kind)) {
    fmt::print("This run sends no messages; the picture shows its calls.\n");
  }
  fmt::print("As an animation: {} --html run.html\n", again);
  return shown;
}

}  // namespace

int trace_lab(const TraceOptions& options, const std::string& asked) {
  const auto lab = asked_lab(asked);
  if (!lab) return exit_usage;
  auto request = request_for(*lab, options);
  const auto last = options.test.empty() ? graded(*lab, options) : last_grade(*lab, options);
  if (options.test.empty() && last.failing.empty()) {
    fmt::print(
        "No test of lab {0} failed in its last grade; to see another test: ./distlab trace {0} --test NAME\n",
        lab->number);
    return exit_ok;
  }
  request.filter = options.test.empty() ? last.failing : filter_of(options.test);
  if (!request.seed && !last.seed.empty()) request.seed = std::stoull(last.seed);
  const TemporaryFolder folder("traces");
  request.traces = folder.path();
  const auto grade = grade_and_say_how_far(request);
  const auto* test = chosen(grade);
  if (test == nullptr) {
    fmt::print(stderr, "lab {} has no test \"{}\"; for the names: ./distlab grade {}\n", lab->number,
               options.test.empty() ? request.filter : options.test, lab->number);
    return exit_usage;
  }
  const bool is_file = options.format != "ascii" && options.output.empty();  // standard output gets the trace
  print_verdict(*test, grade.seed, is_file ? stderr : stdout);
  const auto named = options.test.empty() ? "" : fmt::format(" --test {}", test->name);
  return show_picture(options, *test, folder.path() / (test->name + ".json"),
                      fmt::format("./distlab trace {}{}", lab->number, named));
}

}  // namespace distlab
