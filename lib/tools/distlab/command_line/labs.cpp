// The commands of a learner.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

void add_result_options(CLI::App& grade, ResultFiles& files) {
  const auto add = [&](const std::string& name, std::filesystem::path& file, const std::string& help) {
    grade.add_option(name, file, help)->check(a_file);
  };
  add("--json", files.json, "write the result to this file as well: for programs; all labs: an array");
  add("--junit", files.junit, "... as JUnit XML, for CI systems; a testsuite for each lab");
  add("--gradescope", files.gradescope, "... as Gradescope's results.json, after each test; one lab only");
  add("--markdown", files.markdown, "... as Markdown, for people");
  add("--csv", files.csv, "... as CSV, for spreadsheets; a row for each test");
}

void add_loop_commands(CLI::App& app, int& exit_code) {
  const auto watch =
      add_command(app, exit_code, "watch", "Build and grade whenever you save; keys for the rest", watch_lab);
  watch.app->add_option("lab", watch.options->lab,
                        "its number; the first one that is not solved if left out");
  watch.app->footer(
      "Keys: h a hint, t the messages of the test that fails, r the demo, g grade now, n the next lab, q "
      "quit.\n"
      "Without a terminal there are no keys: results are printed until standard input ends.");

  // What the script and `watch` start; not for people.
  const auto round = add_command(app, exit_code, "round", "One piece of work of watch", play_round);
  round.app->group("");
  round.app->add_option("what", round.options->what)
      ->required()
      ->check(CLI::IsMember({"grade", "run", "trace"}));
  round.app->add_option("lab", round.options->lab)->required();
  const auto explain =
      add_command(app, exit_code, "explain-build", "The errors in the log of a build", explain_build);
  explain.app->group("");
  explain.app->add_option("log", explain.options->log)->required();
}

}  // namespace

void add_lab_commands(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, "list", "The labs, and how far you are", list_labs);
  const auto start = add_command(app, exit_code, "start", "What to read and what to edit", start_lab);
  start.app->add_option("lab", start.options->lab, which_lab)->required();

  const auto run = add_command(app, exit_code, "run", "Run a lab's demo with your code", run_lab);
  run.app->add_option("lab", run.options->lab, which_lab)->required();
  run.app->add_flag("--solution", run.options->solution, "with the solution instead");
  run.app
      ->add_option("--device", run.options->device,
                   "cpu or cuda: where the ranks' tensors are (those of virtual ranks: always cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  run.app
      ->add_option("--backend", run.options->backend,
                   "host, mpi; on GPUs: cuda, nccl; for ranks whose program names none")
      ->check(CLI::IsMember({"host", "gloo", "cuda", "nccl", "mpi"}));
  run.app->add_option("--nproc", run.options->nproc, "ranks, of a demo whose story takes any number (lab 02)")
      ->check(CLI::Range(1, 1024));
  run.app->add_option("arguments", run.options->arguments, "for the demo, after --");

  const auto grade =
      add_command(app, exit_code, "grade", "Grade your code: is it right, and if not, why?", grade_lab);
  grade.app
      ->add_option("lab", grade.options->lab,
                   "its number (1), the beginning of its name, all, or begun (all but untouched ones)")
      ->required();
  auto* const solution =
      grade.app->add_flag("--solution", grade.options->solution, "grade the solution instead");
  add_result_options(*grade.app, grade.options->results);
  grade.app
      ->add_option("--seed", grade.options->seed, "ask the same questions again (a grade prints its seed)")
      ->check(a_seed);
  auto* const submission =
      grade.app
          ->add_option(
              "--submission", grade.options->submission,
              "grade what was handed in, built in the sandbox: the file, a folder or a zip file with it")
          ->check(not_empty)
          ->excludes(solution);
  grade.app->add_option("--runner", grade.options->runner, "another program to grade")
      ->group("")
      ->check(not_empty)
      ->excludes(solution)
      ->excludes(submission);

  const auto hint = add_command(app, exit_code, "hint",
                                "A hint on what your last grade found; once more: a bigger one", show_hint);
  hint.app->add_option("lab", hint.options->lab, which_lab)->required();
  hint.app->add_option("--level", hint.options->level, "all hints of that level: 1, 2 or 3")
      ->check(CLI::Range(1, 3));
  hint.app->add_flag("--zh", hint.options->chinese, "in Chinese");
  add_loop_commands(app, exit_code);
}

void add_file_commands(CLI::App& app, int& exit_code) {
  const auto solution =
      add_command(app, exit_code, "solution", "The solution of a lab that you have solved", show_solution);
  solution.app->add_option("lab", solution.options->lab, which_lab)->required();
  solution.app->add_flag("--spoil", solution.options->spoil, "though you have not");

  const auto submit =
      add_command(app, exit_code, "submit", "Pack the file to hand in, once it compiles", submit_lab);
  submit.app->add_option("lab", submit.options->lab, which_lab)->required();
  submit.app->add_option("-o,--output", submit.options->output, "the zip file; lab_NN.zip when left out")
      ->check(a_file);

  const auto reset = add_command(app, exit_code, "reset", "Begin a lab anew; your file is kept", reset_lab);
  reset.app->add_option("lab", reset.options->lab, which_lab)->required();
}

}  // namespace distlab
