// distlab show.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {

void add_show_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "show", "For lectures: show a ring, a deadlock, overlap, ... as they run", show_scene);
  command->add_option("scene", options->scene, "ring, tree, ... (default: list all scenes)");
  command->add_option("--html", options->html, "write a page that plays the scene in any browser")
      ->check(a_file);
  command->add_option("--trace", options->trace, "write the events to this file, for ./distlab trace")
      ->check(a_file);
}

}  // namespace distlab
