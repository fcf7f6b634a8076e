// distlab trace.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {

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
  command
      ->add_option("-o,--output", options->output,
                   "write to this file; of a lab: keep the trace, for Perfetto")
      ->check(a_file);
  command
      ->add_option("--html", options->html, "write a page that plays it, for any browser, and nothing else")
      ->check(a_file);
  command->add_option("--width", options->width, "columns of the picture")->check(CLI::Range(40, 1000));
  command->add_flag("--ascii", options->ascii, "no line drawing characters");
  command->add_option("--test", options->test, "of a lab: this test");
  command->add_option("--seed", options->seed, "of a lab: the questions of that grade")->check(a_seed);
  command->add_option("--runner", options->runner, "another program to grade")->group("");
}

}  // namespace distlab
