// distlab round: the tasks of `watch`, in a process that it can stop: build, then grade, run the demo or
// trace. Lines that begin with "@@ " report progress; `watch` shows all other lines. Also distlab
// explain-build: the errors of a failed build, for the ./distlab script.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "dist/core/error.h"

#include "distlab/commands.h"
#include "distlab/grading.h"
#include "distlab/labs.h"
#include "distlab/loop/build.h"
#include "distlab/loop/build_errors.h"
#include "distlab/loop/round_page.h"
#include "distlab/progress.h"
#include "distlab/results/text.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

void tell(const std::string& how_far) {
  fmt::print("@@ {}\n", how_far);
  std::fflush(stdout);
}

// Returns false, after printing the errors, when the build has failed.
bool build(const std::vector<std::string>& targets) {
  tell("building");
  const auto built = loop::build_targets(targets, [](const std::string& done) { tell("building " + done); });
  if (!built.succeeded) {
    const auto told = loop::explain_log_file(built.log_file);
    fmt::print("{}\n\n",
               styled(Style::bad, told.is_students ? "Your file does not compile, so nothing was run."
                                                   : "The build failed, so nothing was run."));
    loop::print_explanation(told, built.log_file);
    return false;
  }
  const auto warnings = loop::explain_warnings(built.log, loop::checkout_sources());
  for (const auto& line : warnings.lines) fmt::print("{}\n", styled(Style::warn, clean(line)));
  return true;
}

int grade_round(const Lab& lab) {
  tell("grading");
  try {
    const auto grade = run_grading({.program = lab_program(lab, "grade"),
                                    .runner = lab_program(lab, "runner"),
                                    .seed = {},
                                    .on_test = [](const Grade& so_far) { tell(running_test(so_far)); }});
    note_progress(lab.folder, grade);
    fmt::print("{}", loop::grade_page(lab.title, grade, terminal_width()));
    return grade.is_full() ? exit_ok : exit_failed;
  } catch (const dist::Error& error) {
    fmt::print("ungraded: {}\nThis is an error of the grader, not of your code.\n", clean(error.what()));
    return exit_missing;
  }
}

}  // namespace

int play_round(const RoundOptions& options) {
  const auto lab = asked_lab(options.lab);
  if (!lab) return exit_usage;
  const auto program = [&](const char* what) { return fmt::format("lab_{:02}_{}", lab->number, what); };
  if (options.what == "run") {
    if (!build({program("demo")})) return exit_failed;
    tell("running");
    RunOptions run;
    run.lab = options.lab;
    return run_lab(run);
  }
  if (!build({program("runner"), program("grade")})) return exit_failed;
  if (options.what == "grade") return grade_round(*lab);
  tell("running");
  TraceOptions trace;
  trace.files = {options.lab};
  return trace_lab(trace, options.lab);
}

int explain_build(const ExplainOptions& options) {
  loop::print_explanation(loop::explain_log_file(options.log), options.log);
  return exit_ok;
}

}  // namespace distlab
