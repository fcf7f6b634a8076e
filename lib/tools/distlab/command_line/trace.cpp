// distlab trace.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {

void add_trace_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "trace", "Draw the messages of a lab's failing test, or of trace files", show_trace);
  command
      ->add_option("files", options->files,
                   "a lab (draws the test that failed), or the files of one run, one per rank "
                   "(DIST_TRACE=FILE writes them)")
      ->required();
  command
      ->add_option(
          "--format", options->format,
          "ascii: a picture (default); chrome: for https://ui.perfetto.dev; player: for the animation")
      ->check(CLI::IsMember({"ascii", "chrome", "player"}));
  command
      ->add_option("-o,--output", options->output,
                   "write to this file; for a lab: keep the trace, for Perfetto")
      ->check(a_file);
  command->add_option("--html", options->html, "write only a page that plays the trace in any browser")
      ->check(a_file);
  command->add_option("--svg", options->svg, "write only a still for a page, light and dark")->check(a_file);
  command->add_option("--width", options->width, "width of the picture in columns")
      ->check(CLI::Range(40, 1000));
  command->add_flag("--ascii", options->ascii, "do not use line drawing characters");
  command->add_option("--test", options->test, "for a lab: draw this test");
  command->add_option("--seed", options->seed, "for a lab: repeat the random tests of that grade")
      ->check(a_seed);
  command->add_option("--runner", options->runner, "grade another program")->group("");
}

}  // namespace distlab
