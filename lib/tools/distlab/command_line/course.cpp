// The commands of an instructor.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

void add_gradescope_command(CLI::App& app, int& exit_code) {
  auto* gradescope = app.add_subcommand("gradescope", "For instructors: an autograder for Gradescope");
  gradescope->require_subcommand(1);
  const auto [build, options] =
      add_command(*gradescope, exit_code, "build", "Pack the autograder of an assignment", build_autograder);
  build->add_option(
      "lab", options->lab,
      "its number (1) or the beginning of its name; left out: a lab's assignment has to be called "
      "\"Lab 1: ...\"");
  build->add_option("-o,--output", options->output, "the zip file; autograder_lab_NN.zip when left out")
      ->check(a_file);
  build->add_option("--seed", options->seed, "of the questions, the same for all; drawn when left out")
      ->check(a_seed);
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

void add_class_command(CLI::App& app, int& exit_code) {
  auto* commands = app.add_subcommand("class", "For instructors: grade a class, make a tree for students");
  commands->require_subcommand(1);
  const auto grade = add_command(*commands, exit_code, "grade", "Grade a folder of submissions", grade_class);
  grade.app->add_option("folder", grade.options->folder, "with one submission an entry")->required();
  grade.app->add_option("--lab", grade.options->lab, which_lab)->required();
  grade.app->add_option("-j,--jobs", grade.options->jobs, "how many at once; half the cores when left out")
      ->check(positive);
  grade.app
      ->add_option("-o,--out", grade.options->output, "a folder for the grades; class_lab_NN if left out")
      ->check(not_empty);
  grade.app->add_option("--seed", grade.options->seed, "ask the questions of that seed")->check(a_seed);
  grade.app->add_flag("--again", grade.options->again, "grade all, also what is graded and unchanged");
  grade.app->footer(class_grade_notes);

  const auto handout = add_command(*commands, exit_code, "handout",
                                   "Make a tree for students, without solutions", make_handout);
  handout.app
      ->add_option("-o,--output", handout.options->output,
                   "a folder that is not there yet; distlab_handout when left out")
      ->check(not_empty);
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
  one.app->add_option("seed", one.options->seed)->check(a_seed)->required();
  one.app->add_option("folder", one.options->folder)->required();
}

void add_slides_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "slides", "The lectures' slides, shown on this machine", show_slides);
  command->add_flag("--pdf", options->pdf, "write them as PDF instead, into build/slides");
  command->add_flag("--build", options->build, "write them as pages into build/slides, and show nothing");
  command->add_option("--port", options->port, "where they are shown: http://localhost:PORT")
      ->check(CLI::Range(1, 65535));
  command->add_option("decks", options->decks, "05, or 05_broadcast: only these pages or PDFs");
  command->footer(
      "They change in the browser when their source in slides/ changes. Needs node, and Chromium for PDF:\n"
      "./distlab setup --slides installs them.");
}

}  // namespace

void add_class_commands(CLI::App& app, int& exit_code) {
  add_class_command(app, exit_code);
  add_slides_command(app, exit_code);
  add_gradescope_command(app, exit_code);
}

}  // namespace distlab
