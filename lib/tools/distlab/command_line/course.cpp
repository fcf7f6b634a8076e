// The commands for instructors.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

void add_gradescope_command(CLI::App& app, int& exit_code) {
  auto* gradescope = app.add_subcommand("gradescope", "For instructors: make an autograder for Gradescope");
  gradescope->require_subcommand(1);
  const auto [build, options] =
      add_command(*gradescope, exit_code, "build", "Pack the autograder of one assignment", build_autograder);
  build->add_option("lab", options->lab,
                    "number of the lab (1), or the beginning of its name (default: the assignment's title "
                    "names the lab, as "
                    "in \"Lab 1: ...\")");
  build->add_option("-o,--output", options->output, "the zip file (default: autograder_lab_NN.zip)")
      ->check(a_file);
  build
      ->add_option("--seed", options->seed,
                   "seed of the random tests, the same for all students (default: a random one)")
      ->check(a_seed);
  build->footer(
      "The zip contains this checkout's tracked files with all solutions, wrong answers and tests, but no "
      "history.\n"
      "Give it only to the instructor and to Gradescope, never to students.");
}

constexpr auto class_grade_notes = R"(
Each entry of the folder is a submission: a folder, a zip file or the lab's .cpp file, named after the student.
distlab builds each submission once in the sandbox and grades it twice with different random tests, which are the
same for all students. The lower score counts; if the two differ, the result is marked "flaky".
The output folder gets grades.csv, report.html, grades.json, and results/NAME.json for each student.
After an interruption (Ctrl-C), the same command continues; it grades changed submissions again.
The exit code is 3 when a submission is ungraded: the grader failed twice, not the student.
)";

void add_class_command(CLI::App& app, int& exit_code) {
  auto* commands = app.add_subcommand("class", "For instructors: grade a class, or make a tree for students");
  commands->require_subcommand(1);
  const auto grade = add_command(*commands, exit_code, "grade", "Grade a folder of submissions", grade_class);
  grade.app->add_option("folder", grade.options->folder, "the folder of submissions")->required();
  grade.app->add_option("--lab", grade.options->lab, which_lab)->required();
  grade.app
      ->add_option("-j,--jobs", grade.options->jobs,
                   "how many submissions are graded at the same time (default: half the cores)")
      ->check(positive);
  grade.app->add_option("-o,--out", grade.options->output, "folder for the grades (default: class_lab_NN)")
      ->check(not_empty);
  grade.app
      ->add_option("--seed", grade.options->seed,
                   "seed of the random tests (default: that of the last run, or a random one)")
      ->check(a_seed);
  grade.app->add_flag("--again", grade.options->again, "grade all submissions again, even unchanged ones");
  grade.app->footer(class_grade_notes);

  const auto handout = add_command(*commands, exit_code, "handout",
                                   "Make a tree for students, without solutions", make_handout);
  handout.app
      ->add_option("-o,--output", handout.options->output,
                   "a folder that does not exist yet (default: distlab_handout)")
      ->check(not_empty);
  handout.app->add_flag("--check", handout.options->check,
                        "also build the first lab in the new tree and grade its starter (some minutes)");
  handout.app->footer(
      "The tree contains all tracked files except solutions, wrong answers, cheats and instructor notes, the "
      "untouched\n"
      "starters, and no history. distlab searches it for lines of the files that were left out, and "
      "configures "
      "it.");

  // `class grade` starts this command for each submission; users do not.
  const auto one =
      add_command(app, exit_code, "class-one", "Grade one submission of a class", grade_one_of_class);
  one.app->group("");
  one.app->add_option("lab", one.options->lab)->required();
  one.app->add_option("submission", one.options->submission)->required();
  one.app->add_option("seed", one.options->seed)->check(a_seed)->required();
  one.app->add_option("folder", one.options->folder)->required();
}

void add_slides_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "slides", "Show the slides of the lectures, on this machine", show_slides);
  command->add_flag("--pdf", options->pdf, "write PDFs into build/slides instead");
  command->add_flag("--build", options->build, "write pages into build/slides, and show nothing");
  command->add_option("--port", options->port, "show the slides at http://localhost:PORT (default: 8123)")
      ->check(CLI::Range(1, 65535));
  command->add_option("decks", options->decks,
                      "05 or 05_broadcast: only these decks, as pages or PDFs (default: all)");
  command->footer(
      "The browser reloads a page when its source in slides/ changes. This command needs node, and Chromium "
      "for "
      "PDFs;\n"
      "to install them: ./distlab setup --slides");
}

}  // namespace

void add_class_commands(CLI::App& app, int& exit_code) {
  add_class_command(app, exit_code);
  add_slides_command(app, exit_code);
  add_gradescope_command(app, exit_code);
}

}  // namespace distlab
