// distlab list, grade.
#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/error.h"

#include "distlab/accounting/tries.h"
#include "distlab/commands.h"
#include "distlab/grade_text.h"
#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/process.h"
#include "distlab/progress.h"
#include "distlab/result_files.h"
#include "distlab/results/text.h"
#include "distlab/starter.h"
#include "distlab/submission.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

int exit_code_of(const GradeRecord& record) {
  if (!record.grade) return exit_missing;
  return record.grade->is_full() ? exit_ok : exit_failed;
}

std::string graded_file(const GradeOptions& options) {
  if (!options.submission.empty()) return "submission";
  if (!options.runner.empty()) return "runner";
  return options.solution ? "solution" : "lab";
}

GradeRecord new_record(const Lab& lab, const GradeOptions& options) {
  return {.lab = lab.folder, .graded_file = graded_file(options), .grade = {}, .reason = {}};
}

// Chooses the grader and the program to grade. Throws dist::Error{unsupported} when they are not built.
GradeRequest request_of(const Lab& lab, const GradeOptions& options) {
  const auto own_runner = [&] { return lab_program(lab, options.solution ? "solution_runner" : "runner"); };
  return {.program = lab_program(lab, "grade"),  // the lab's file and the solution have the same grader
          .runner = options.runner.empty() ? own_runner() : fs::absolute(options.runner),
          .seed = options.seed};
}

// Grades, and prints each test as it ends (on a terminal). `on_test` is that of GradeRequest.
void grade_and_print(const Lab& lab, const GradeOptions& options, const GradeSink& on_test,
                     GradeRecord& record) {
  GradeText text(lab, options.quiet);
  const auto on_each = [&](const Grade& so_far) {
    text.add(so_far);
    if (on_test) on_test(so_far);
  };
  if (options.submission.empty()) {
    auto request = request_of(lab, options);
    request.on_test = on_each;
    record.grade = run_grading(request);
  } else {
    grade_submission(lab, options.submission, {.seed = options.seed, .on_test = on_each}, record);
  }
  text.end(record);
}

// Grades and prints the result, or why there is none.
GradeRecord grade(const Lab& lab, const GradeOptions& options, const GradeSink& on_test) {
  auto record = new_record(lab, options);
  try {
    grade_and_print(lab, options, on_test, record);
  } catch (const std::exception& error) {
    record.reason = error.what();
    const auto* const known = dynamic_cast<const dist::Error*>(&error);
    if (known != nullptr && known->code() == dist::Errc::unsupported)
      fmt::print(stderr, "{}\n", clean(error.what()));
    else
      fmt::print(stderr, "ungraded: {}\nThis is an error of the grader, not of your code.\n",
                 clean(error.what()));
    return record;
  }
  if (record.graded_file == "lab") note_progress(lab.folder, *record.grade);
  return record;
}

// Grades the labs in order, and prints one line per lab at the end.
int grade_several(const std::vector<Lab>& labs, const GradeOptions& options) {
  if (!options.results.gradescope.empty()) {
    fmt::print(
        stderr,
        "--gradescope is for one lab, because an assignment has one: ./distlab grade 1 --gradescope {}\n",
        options.results.gradescope.string());
    return exit_usage;
  }
  std::string table;
  int worst = exit_ok;
  std::vector<GradeRecord> records;
  for (const auto& lab : labs) {
    records.push_back(grade(lab, options, {}));
    const int code = exit_code_of(records.back());
    worst = std::max(worst, code);
    table += fmt::format("{} {}\n", code == exit_ok ? styled(Style::good, "✓") : styled(Style::bad, "✗"),
                         lab.title);
    fmt::print("\n");
  }
  fmt::print("{}", table);
  return write_results(options.results, records) ? worst : exit_missing;
}

int grade_begun(const GradeOptions& options) {
  auto labs = find_labs();
  std::erase_if(labs, [](const Lab& lab) { return !is_begun(lab); });
  if (labs.empty()) fmt::print("You have not begun a lab yet; to begin: ./distlab start 0\n");
  return grade_several(labs, options);
}

}  // namespace

int list_labs() {
  const auto progress = read_progress();
  const auto answers = read_answers();
  for (const auto& lab : find_labs()) {
    const auto mine = progress.find(lab.folder);
    const bool is_graded = mine != progress.end() && mine->second.is_graded();
    const bool is_solved = is_graded && mine->second.is_solved();
    std::string reached = !is_graded ? "" : fmt::format("  {} of 100", mine->second.best);
    if (const int answered = answered_of(answers, lab.folder); answered > 0)
      reached += fmt::format("  {} answered", dist::counted(answered, "question"));
    fmt::print("{} {}{}\n    {}\n", styled(Style::good, is_solved ? "✓" : " "),
               styled(Style::bold, lab.title), styled(is_solved ? Style::good : Style::dim, reached),
               fs::relative(handout(lab), workspace().root).string());
  }
  fmt::print(
      "\n./distlab start 0   begin a lab: what to read and what to edit\n"
      "./distlab run 0     see what your code does\n./distlab grade 0   is it right, and if not, why?\n"
      "./distlab hint 0    get a hint\n./distlab watch     grade whenever you save, with a key for each of "
      "these\n");
  return exit_ok;
}

int grade_lab(const GradeOptions& options) {
  if (!check_results(options.results)) return exit_missing;
  if (options.lab == "all") return grade_several(find_labs(), options);
  if (options.lab == "begun") return grade_begun(options);
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  auto unfinished = new_record(*lab, options);
  unfinished.is_finished = false;
  bool is_written = write_unfinished(options.results, unfinished);
  const auto record = grade(*lab, options, [&](const Grade& so_far) {
    unfinished.grade = so_far;
    is_written = is_written && write_unfinished(options.results, unfinished);
  });
  is_written = is_written && write_results(options.results, record);
  return is_written ? exit_code_of(record) : exit_missing;
}

}  // namespace distlab
