// Commands, options and help. The only source that includes CLI11, which takes longer to compile than all
// commands.
#include "distlab/command_line.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "distlab/build_info.h"
#include "distlab/commands.h"
#include "distlab/suggest.h"

namespace distlab {
namespace {

constexpr auto examples = R"(
A first hour:
  ./distlab demo         what it is about, in twenty seconds
  ./distlab list         the labs; start with the first one's README.md
  ./distlab run 1        see what your code does
  ./distlab grade 1      is it right, and if not, why?
  ./distlab hint 1       a nudge, when you are stuck
  ./distlab trace 1      the messages of the test that fails, as a picture
  ./distlab watch 1      does all of these by a key, and grades whenever you save

Something odd?  ./distlab doctor says what this machine has, ./distlab test whether everything works.

Exit codes: 0 fine, 1 failed (a test, a grade, a compilation), 2 wrong usage, 3 something needed is missing.
)";

// A command with options of its own. CLI11 fills them in and runs the command at the end of parsing; what it
// returns goes to `exit_code`, which has to live as long as the app.
template <class Options>
struct Command {
  CLI::App* app;
  std::shared_ptr<Options> options;
};

template <class Options>
Command<Options> add_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                             int (*run)(const Options&)) {
  Command<Options> command{app.add_subcommand(name, help), std::make_shared<Options>()};
  command.app->callback([&exit_code, run, options = command.options] { exit_code = run(*options); });
  return command;
}

void add_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                 int (*run)()) {
  app.add_subcommand(name, help)->callback([&exit_code, run] { exit_code = run(); });
}

int print_version() {
  fmt::print("distlab {}\n", build_info().version);
  return exit_ok;
}

constexpr auto which_lab = "its number (1) or the beginning of its name";

void add_result_options(CLI::App& grade, ResultFiles& files) {
  grade.add_option("--json", files.json,
                   "write the result to this file as well: for programs; all labs: an array");
  grade.add_option("--junit", files.junit, "... as JUnit XML, for CI systems; a testsuite for each lab");
  grade.add_option("--gradescope", files.gradescope,
                   "... as Gradescope's results.json, after each test; one lab only");
  grade.add_option("--markdown", files.markdown, "... as Markdown, for people");
  grade.add_option("--csv", files.csv, "... as CSV, for spreadsheets; a row for each test");
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

void add_lab_commands(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, "list", "The labs, and how far you are", list_labs);
  const auto start = add_command(app, exit_code, "start", "What to read and what to edit", start_lab);
  start.app->add_option("lab", start.options->lab, which_lab)->required();

  const auto run = add_command(app, exit_code, "run", "Run a lab's demo with your code", run_lab);
  run.app->add_option("lab", run.options->lab, which_lab)->required();
  run.app->add_flag("--solution", run.options->solution, "with the solution instead");
  run.app->add_option("arguments", run.options->arguments, "for the demo, after --");

  const auto grade =
      add_command(app, exit_code, "grade", "Grade your code: is it right, and if not, why?", grade_lab);
  grade.app
      ->add_option("lab", grade.options->lab,
                   "its number (1), the beginning of its name, all, or begun (all but untouched ones)")
      ->required();
  grade.app->add_flag("--solution", grade.options->solution, "grade the solution instead");
  add_result_options(*grade.app, grade.options->results);
  grade.app->add_option("--seed", grade.options->seed,
                        "ask the same questions again (a grade prints its seed)");
  grade.app->add_option(
      "--submission", grade.options->submission,
      "grade what was handed in, built in the sandbox: the file, a folder or a zip file with it");
  grade.app->add_option("--runner", grade.options->runner, "another program to grade")->group("");

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
  submit.app->add_option("-o,--output", submit.options->output, "the zip file; lab_NN.zip when left out");

  const auto reset = add_command(app, exit_code, "reset", "Begin a lab anew; your file is kept", reset_lab);
  reset.app->add_option("lab", reset.options->lab, which_lab)->required();
}

void add_gradescope_command(CLI::App& app, int& exit_code) {
  auto* gradescope = app.add_subcommand("gradescope", "For instructors: an autograder for Gradescope");
  gradescope->require_subcommand(1);
  const auto [build, options] =
      add_command(*gradescope, exit_code, "build", "Pack the autograder of an assignment", build_autograder);
  build->add_option(
      "lab", options->lab,
      "its number (1) or the beginning of its name; left out: a lab's assignment has to be called "
      "\"Lab 1: ...\"");
  build->add_option("-o,--output", options->output, "the zip file; autograder_lab_NN.zip when left out");
  build->footer(
      "The zip holds this checkout's tracked files with all solutions, mutants and questions, and no "
      "history:\n"
      "it is for the instructor and for Gradescope, never for students.");
}

constexpr auto class_grade_notes = R"(
Each entry of the folder is a submission: a folder, a zip file or the lab's .cpp file; its name is the student's.
Each is built once in the sandbox and graded twice with different questions; the lower score counts, and "flaky"
says that they differ. All students get the same questions.
In the output folder: grades.csv, report.html, grades.json, and results/NAME.json of each.
Interrupted (Ctrl-C), the same command goes on where it was; what has changed since is graded anew.
Exit code 3 when a submission is ungraded: the grader failed twice, not the student.
)";

void add_class_commands(CLI::App& app, int& exit_code) {
  auto* commands = app.add_subcommand("class", "For instructors: grade a class, make a tree for students");
  commands->require_subcommand(1);
  const auto grade = add_command(*commands, exit_code, "grade", "Grade a folder of submissions", grade_class);
  grade.app->add_option("folder", grade.options->folder, "with one submission an entry")->required();
  grade.app->add_option("--lab", grade.options->lab, which_lab)->required();
  grade.app->add_option("-j,--jobs", grade.options->jobs, "how many at once; half the cores when left out")
      ->check(CLI::PositiveNumber);
  grade.app->add_option("-o,--out", grade.options->output,
                        "a folder for the grades; class_lab_NN if left out");
  grade.app->add_option("--seed", grade.options->seed, "ask the questions of that seed");
  grade.app->add_flag("--again", grade.options->again, "grade all, also what is graded and unchanged");
  grade.app->footer(class_grade_notes);

  const auto handout = add_command(*commands, exit_code, "handout",
                                   "Make a tree for students, without solutions", make_handout);
  handout.app->add_option("-o,--output", handout.options->output,
                          "a folder that is not there yet; distlab_handout when left out");
  handout.app->add_flag("--check", handout.options->check,
                        "build lab 1 there, too, and grade its starter (some minutes)");
  handout.app->footer(
      "It has all tracked files but solutions, wrong answers, cheats and instructor notes, has the "
      "untouched\n"
      "starters, and no history. It is looked through for lines of what was left out, and configured.");

  // What `class grade` starts; not for people.
  const auto one = add_command(app, exit_code, "class-one", "One submission of a class", grade_one_of_class);
  one.app->group("");
  one.app->add_option("lab", one.options->lab)->required();
  one.app->add_option("submission", one.options->submission)->required();
  one.app->add_option("seed", one.options->seed)->required();
  one.app->add_option("folder", one.options->folder)->required();
}

void add_test_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "test", "All tests (a few minutes); --full: what CI runs", run_tests);
  command->add_flag("--full", options->full, "with the long ones");
  command->add_option("--filter", options->filter, "only tests whose name matches this regular expression");
  command->add_option("--label", options->label,
                      "only tests with a label that matches: unit, integration, ...");
  command->add_flag("--rerun-failed", options->rerun_failed, "only those that failed last time");
  command->add_option("-j,--jobs", options->jobs, "how many at once")->check(CLI::PositiveNumber);
  command->add_flag("-v,--verbose", options->verbose, "name those that pass, too");
}

void add_doctor_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "doctor", "What this machine has, and what each absence costs", run_doctor);
  command->add_flag("--json", options->json, "for programs");
  command->footer("Exit code 3 when something needs mending.");
}

constexpr auto sim_examples = R"(
Examples:
  ./distlab sim -n 8,64 -b 8,1MiB                    every algorithm of all_reduce, on a laptop
  ./distlab sim broadcast -a flat,binomial -n 1000 -t summit
  ./distlab sim -a ring,tree --sweep ranks=2..256,bytes=8..64MiB -t dgx-h100-ndr --plot out.svg
  ./distlab sim -a ring,sharp -n 64 -b 1MiB -t dgx-h100-ndr      sharp: the switches sum
  ./distlab sim -a ring -n 4 -b 64KiB --trace ring.json && ./distlab trace ring.json     the messages as a picture
What if?
  ./distlab sim -n 8 -b 1MiB --straggler 3x2.5       rank 3 is 2.5 times slower in all it does itself
  ./distlab sim -n 8 -b 1MiB --slow-link 0-1x10      messages between ranks 0 and 1 take 10 times as long
  ./distlab sim -n 8 -b 1MiB --lose 2@100us          rank 2 vanishes; who gets which error?
Programs that start their ranks with dist::spawn(n, rank_main), and labs:
  ./distlab sim ./program -n 1024 -t summit          -n left out: as many as it asks for
  ./distlab sim ./program -- --its-own-option
  ./distlab sim ./program --explore 200              other orders of messages, until one goes wrong; --seed repeats it
  ./distlab sim 1                                    lab 1's demo with your code; --solution: with the solution
All times but "took" are virtual: what the machine of the topology would take. In --sweep a..b doubles from a to b.
)";

void add_sim_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "sim", "Collectives, programs and labs on thousands of virtual ranks", run_simulation);
  command->add_option(
      "what", options->what,
      "a collective (all_reduce when left out, broadcast, barrier, ...), the path of a program, or a lab");
  command->add_option("arguments", options->arguments, "of the program");
  command->add_flag("--solution", options->solution, "of a lab: run the solution");
  command->add_option("-a,--algorithm", options->algorithms, "ring,tree,...; all there are when left out")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("-n,--ranks", options->ranks, "how many ranks, or several: 4,64,1024")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("-b,--bytes", options->bytes, "bytes a rank, or several: 8,1MiB")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--sweep", options->sweep, "ranges of both: ranks=2..4096,bytes=8..64MiB (doubling)");
  command->add_option("-t,--topology", options->topology,
                      "laptop, 10gbe, dgx-a100-hdr, dgx-h100-ndr, summit, or a JSON file");
  command->add_option("--straggler", options->stragglers, "RANKxFACTOR: that rank is slower")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--slow-link", options->slow_links, "RANK-RANKxFACTOR: messages between them take longer")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--lose", options->losses, "RANK@TIME: that rank vanishes then (ns, us, ms or s)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--seed", options->seed,
                      "of a program: another schedule, as 17, or as --explore names it");
  command->add_option("--explore", options->explore,
                      "of a program: so many schedules, until one goes wrong; all: every one");
  command->add_option("--trace", options->trace, "write the events to this file, for ./distlab trace");
  command->add_flag("--links", options->links, "name the links that carried most");
  command->add_option("--plot", options->plot, "draw the times into this SVG file");
  command->add_option("--json", options->json, "write the results to this file, - for standard output");
  command->add_flag(
      "--headline", options->headline,
      "ring and tree at 24,576 GPUs, as the course notes compare them (the ring takes many minutes)");
  command->footer(sim_examples);
}

void add_trace_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "trace", "Draw the messages of a lab's failing test, or of trace files", show_trace);
  command
      ->add_option(
          "files", options->files,
          "a lab: its test that failed; or the files of one run, one a rank (DIST_TRACE=FILE writes them)")
      ->required();
  command
      ->add_option(
          "--format", options->format,
          "ascii: a picture (the default); chrome: for https://ui.perfetto.dev; player: for the animation")
      ->check(CLI::IsMember({"ascii", "chrome", "player"}));
  command->add_option("-o,--output", options->output,
                      "write to this file; of a lab: keep the trace, for Perfetto");
  command->add_option("--width", options->width, "columns of the picture")->check(CLI::Range(40, 1000));
  command->add_flag("--ascii", options->ascii, "no line drawing characters");
  command->add_option("--test", options->test, "of a lab: this test");
  command->add_option("--seed", options->seed, "of a lab: the questions of that grade");
  command->add_option("--runner", options->runner, "another program to grade")->group("");
}

constexpr auto bench_notes = R"(
Examples:
  ./distlab bench all_reduce --compare mpi              4 B to 64 MiB, beside Open MPI
  ./distlab bench broadcast -n 4 --all-algorithms --max 1MiB
  ./distlab bench all_reduce --min 64KiB --json out.json --plot out.svg
  DIST_TRANSPORT=tcp ./distlab bench send_recv
  ./distlab bench --calibrate && ./distlab bench all_reduce --explain 4MiB -n 8

Collectives: all_reduce, broadcast, reduce, all_gather, reduce_scatter, all_to_all, scatter, gather, barrier,
send_recv (ping-pong). Figures as in nccl-tests; lib/tools/distlab/bench/README.md says how they are taken.
)";

void add_bench_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "bench", "How fast is a collective here? In a release build", run_bench);
  command->add_option("collective", options->what, "all_reduce, broadcast, ..., send_recv");
  command->add_option("-n,--nproc", options->ranks, "ranks; one a core when left out, two at least");
  command->add_option("--min", options->min, "smallest size: 4, 4KiB")->transform(CLI::AsSizeValue(false));
  command->add_option("--max", options->max, "largest size: 64MiB")->transform(CLI::AsSizeValue(false));
  command->add_option("--factor", options->factor, "from one size to the next: 4");
  command->add_option("--dtype", options->dtype, "f32; f16, bf16, f64, u8, i8, i32, i64, bool");
  command->add_option("--op", options->op, "sum; avg, product, min, max, band, bor, bxor");
  command->add_option("--root", options->root, "rank 0");
  command->add_option("--backend", options->backend, "auto; host, mpi");
  command->add_option("-a,--algorithm", options->algorithm,
                      "this one, as ring; the library's choice if left out");
  command->add_flag("--all-algorithms", options->all_algorithms, "a row for each");
  command->add_option("--iters", options->iterations, "calls of a batch; as many as take 10 ms if left out");
  command->add_option("--repeat", options->repeats, "batches, of which the median is taken: 15");
  command->add_option("--compare", options->compare, "mpi: the same by Open MPI, in turn, and the ratio");
  command->add_flag("--foreign", options->foreign, "tensors over malloc'ed memory (Tensor::from_blob)");
  command->add_flag("--hot", options->hot, "the same buffers in every call: what caches make of it");
  command->add_option("--json", options->json, "write the rows to this file, - for standard output");
  command->add_option("--plot", options->plot, "draw the times into this SVG file");
  command
      ->add_option("--explain", options->explain,
                   "SIZE: what each algorithm would cost here, and which one wins; measures nothing")
      ->transform(CLI::AsSizeValue(false));
  command->add_flag("--calibrate", options->calibrate,
                    "measure what messages, sums and shared memory cost here, and keep it");
  command->footer(bench_notes);
}

// In the order of the help.
void add_commands(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, "demo", "What it is about, in twenty seconds", play_demo);
  add_lab_commands(app, exit_code);
  add_file_commands(app, exit_code);
  add_class_commands(app, exit_code);
  add_gradescope_command(app, exit_code);
  add_test_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_bench_command(app, exit_code);
  add_sim_command(app, exit_code);
  add_trace_command(app, exit_code);
  add_command(app, exit_code, "version", "The version", print_version);
}

std::vector<std::string> command_names(const CLI::App& app, bool hidden) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty() == hidden) names.push_back(command->get_name());
  }
  return names;
}

// An unknown command gets one line with the one that was probably meant, not the whole help.
bool refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const std::string word = argv[1];
  const auto names = command_names(app, false), hidden = command_names(app, true);
  const auto is_word = [&](const std::string& name) { return name == word; };
  if (std::ranges::any_of(names, is_word) || std::ranges::any_of(hidden, is_word)) return false;
  const std::string meant = closest(word, names);
  fmt::print(stderr, "distlab: there is no command \"{}\"; {}\n", word,
             meant.empty() ? "./distlab --help lists them" : fmt::format("did you mean \"{}\"?", meant));
  return true;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  int exit_code = exit_ok;
  CLI::App app{"distlab: a teaching lab for distributed training", "./distlab"};
  app.set_version_flag("--version", fmt::format("distlab {}", build_info().version));
  app.require_subcommand(1);
  app.get_formatter()->column_width(18);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return fmt::format("distlab: {}\nTry {} --help.\n", error.what(), failed->get_name());
  });
  add_commands(app, exit_code);
  app.footer(examples);  // last: subcommands made after it would repeat it
  if (argc < 2) {
    fmt::print("{}", app.help());
    return exit_ok;
  }
  if (refuse_unknown_command(app, argc, argv)) return exit_usage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  return exit_code;
}

}  // namespace distlab
