// The commands for students.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

void add_result_options(CLI::App& grade, ResultFiles& files) {
  const auto add = [&](const std::string& name, std::filesystem::path& file, const std::string& help) {
    grade.add_option(name, file, help)->check(a_file);
  };
  add("--json", files.json, "also write the result to this file, as JSON; for all labs: an array");
  add("--junit", files.junit, "... as JUnit XML, for CI systems; one testsuite per lab");
  add("--gradescope", files.gradescope,
      "... as Gradescope's results.json, after each test; for one lab only");
  add("--markdown", files.markdown, "... as Markdown, to read");
  add("--csv", files.csv, "... as CSV, for spreadsheets; one row per test");
}

void add_loop_commands(CLI::App& app, int& exit_code) {
  const auto watch =
      add_command(app, exit_code, "watch", "Build and grade a lab whenever you save", watch_lab);
  watch.app->add_option("lab", watch.options->lab,
                        "number of the lab (default: the first one that you have not solved)");
  watch.app->footer(
      "Keys: h hint, t messages of the failing test, r run the demo, g grade now, n next lab, q quit.\n"
      "Without a terminal there are no keys: watch prints results until standard input ends.");

  // The script and `watch` start these two; users do not.
  const auto round = add_command(app, exit_code, "round", "Do one task of watch", play_round);
  round.app->group("");
  round.app->add_option("what", round.options->what)
      ->required()
      ->check(CLI::IsMember({"grade", "run", "trace"}));
  round.app->add_option("lab", round.options->lab)->required();
  const auto explain =
      add_command(app, exit_code, "explain-build", "Show the errors in the log of a build", explain_build);
  explain.app->group("");
  explain.app->add_option("log", explain.options->log)->required();
}

}  // namespace

void add_lab_commands(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, "list", "List the labs and your points", list_labs);
  const auto start =
      add_command(app, exit_code, "start", "Begin a lab: what to read and what to edit", start_lab);
  start.app->add_option("lab", start.options->lab, which_lab)->required();

  const auto run = add_command(app, exit_code, "run", "Run the demo of a lab with your code", run_lab);
  run.app->add_option("lab", run.options->lab, which_lab)->required();
  run.app->add_flag("--solution", run.options->solution, "run the solution instead");
  run.app
      ->add_option("--device", run.options->device,
                   "cpu or cuda: where the ranks' tensors are (virtual ranks: always cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  run.app
      ->add_option("--backend", run.options->backend,
                   "host, mpi; on GPUs: cuda, nccl; used by ranks whose program does not name one")
      ->check(CLI::IsMember({"host", "gloo", "cuda", "nccl", "mpi"}));
  run.app
      ->add_option("--nproc", run.options->nproc,
                   "number of ranks, for a demo that takes any number (lab 02)")
      ->check(CLI::Range(1, 1024));
  run.app->add_option("arguments", run.options->arguments, "arguments of the demo, after --");

  const auto grade =
      add_command(app, exit_code, "grade", "Grade your code: is it right, and if not, why?", grade_lab);
  grade.app
      ->add_option(
          "lab", grade.options->lab,
          "number of the lab (1), the beginning of its name, all, or begun (those that you have edited)")
      ->required();
  auto* const solution =
      grade.app->add_flag("--solution", grade.options->solution, "grade the solution instead");
  add_result_options(*grade.app, grade.options->results);
  grade.app
      ->add_option("--seed", grade.options->seed,
                   "repeat the random tests of an earlier grade, which printed its seed")
      ->check(a_seed);
  grade.app->add_flag("--quiet", grade.options->quiet,
                      "say what is wrong, not why: ./distlab hint says more when you want it");
  auto* const submission =
      grade.app
          ->add_option(
              "--submission", grade.options->submission,
              "grade a submission, built in the sandbox: the file, or a folder or zip file that contains it")
          ->check(not_empty)
          ->excludes(solution);
  grade.app->add_option("--runner", grade.options->runner, "grade another program")
      ->group("")
      ->check(not_empty)
      ->excludes(solution)
      ->excludes(submission);

  const auto hint =
      add_command(app, exit_code, "hint",
                  "Get a hint about what your last grade found; repeat it for a bigger hint", show_hint);
  hint.app->add_option("lab", hint.options->lab, which_lab)->required();
  hint.app->add_option("--level", hint.options->level, "show all hints of this level: 1, 2 or 3")
      ->check(CLI::Range(1, 3));
  hint.app->add_flag("--zh", hint.options->chinese, "show it in Chinese");

  const auto answer =
      add_command(app, exit_code, "answer", "Answer a lab's questions about the numbers of a real model",
                  answer_question);
  answer.app->add_option("lab", answer.options->lab, which_lab)->required();
  answer.app->add_option("question", answer.options->question, "number of the question (default: show all)")
      ->check(CLI::Range(1, 99));
  answer.app->add_option("value", answer.options->value, "your answer: 2.2, or with its unit, '2.2 GB'");
  answer.app->add_flag("--show", answer.options->show, "show the solution");
  answer.app->add_flag("--zh", answer.options->chinese, "show it in Chinese");
  add_loop_commands(app, exit_code);
}

void add_file_commands(CLI::App& app, int& exit_code) {
  const auto solution = add_command(app, exit_code, "solution",
                                    "Show the solution of a lab that you have solved", show_solution);
  solution.app->add_option("lab", solution.options->lab, which_lab)->required();
  solution.app->add_flag("--spoil", solution.options->spoil, "show it although you have not solved the lab");

  const auto submit = add_command(app, exit_code, "submit",
                                  "Make a zip of your file to hand in, once it compiles", submit_lab);
  submit.app->add_option("lab", submit.options->lab, which_lab)->required();
  submit.app->add_option("-o,--output", submit.options->output, "the zip file (default: lab_NN.zip)")
      ->check(a_file);

  const auto reset = add_command(app, exit_code, "reset",
                                 "Start a lab again from its untouched file; yours is kept", reset_lab);
  reset.app->add_option("lab", reset.options->lab, which_lab)->required();
}

}  // namespace distlab
