// The commands about this checkout and its machine.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

void add_test_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "test", "All tests (a few minutes); --full: what CI runs", run_tests);
  command->add_flag("--full", options->full, "with the long ones");
  command->add_option("--filter", options->filter, "only tests whose name matches this regular expression");
  command->add_option("--label", options->label,
                      "only tests with a label that matches: unit, integration, ...");
  command->add_flag_callback(
      "--gpu", [of = options] { of->label = "^gpu$"; }, "only those that need a GPU");
  command->add_flag("--rerun-failed", options->rerun_failed, "only those that failed last time");
  command->add_option("-j,--jobs", options->jobs, "how many at once")->check(positive);
  command->add_flag("-v,--verbose", options->verbose, "name those that pass, too");
}

void add_doctor_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "doctor", "What this machine has, and what each absence costs", run_doctor);
  command->add_flag("--json", options->json, "for programs");
  command->footer("Exit code 3 when something needs mending.");
}

}  // namespace

void add_checkout_commands(CLI::App& app, int& exit_code) {
  add_test_command(app, exit_code);
  add_doctor_command(app, exit_code);
}

}  // namespace distlab
