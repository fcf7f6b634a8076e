// distlab show.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

constexpr auto pipeline_examples = R"(
Examples:
  ./distlab show pipeline                                  1f1b on 4 ranks, and what the other schedules cost
  ./distlab show pipeline --schedule zb-h1 --times 2,2,1 --svg zb-h1.svg
  ./distlab show pipeline --schedule interleaved -n 4 -m 8 --chunks 2 --latency 0.5
  ./distlab show pipeline -n 2 -m 3 --actions              the lists that the ranks run
The handbook explains schedules: labs/handbook/pipeline.md
)";

CLI::App* add_pipeline_scene(CLI::App& show, int& exit_code) {
  const auto [command, options] =
      add_command(show, exit_code, "pipeline",
                  "Draw a pipeline schedule, and compare its costs with the formulas", show_pipeline);
  command->add_option("--schedule", options->schedule, "gpipe, 1f1b (default), interleaved or zb-h1");
  command->add_option("-n,--ranks", options->ranks, "ranks of the pipeline (default: 4)")
      ->check(CLI::Range(1, 256));
  command->add_option("-m,--micro-batches", options->micro_batches, "micro-batches of a batch (default: 8)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--chunks", options->chunks, "stages per rank, for interleaved (default: 2)")
      ->check(CLI::Range(1, 26));
  command
      ->add_option("--times", options->times,
                   "F,Bin,Bw: times of a micro-batch on one rank: forward, input gradients, weight gradients "
                   "(default: 1,1,1)")
      ->delimiter(',')
      ->expected(3)
      ->check(positive);
  command->add_option("--latency", options->latency, "time of a message, in the same unit (default: 0)")
      ->check(no_minus);
  command->add_flag("--actions", options->actions, "list what each rank computes, sends and receives");
  command->add_option("--svg", options->svg, "draw the timeline into this SVG file")->check(a_file);
  command->footer(pipeline_examples);
  return command;
}

}  // namespace

void add_show_command(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("show", "For lectures: show a ring, a deadlock, overlap, ... as they run");
  const auto options = std::make_shared<ShowOptions>();
  command->add_option("scene", options->scene, "ring, tree, ... (default: list all scenes)");
  auto* html =
      command->add_option("--html", options->html, "write a page that plays the scene in any browser")
          ->check(a_file);
  auto* trace =
      command->add_option("--trace", options->trace, "write the events to this file, for ./distlab trace")
          ->check(a_file);
  add_pipeline_scene(*command, exit_code)->excludes(html)->excludes(trace);
  command->callback([&exit_code, command, options] {
    if (command->get_subcommands().empty()) exit_code = show_scene(*options);
  });
}

}  // namespace distlab
