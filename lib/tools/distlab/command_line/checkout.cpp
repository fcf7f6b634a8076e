// The commands about this checkout and its machine.
#include "distlab/command_line/add_command.h"
#include "distlab/command_line/values.h"

namespace distlab {
namespace {

void add_test_command(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_command(
      app, exit_code, "test", "Test every layer and every lab (a few minutes); --full: all tests", run_tests);
  command->add_flag("--full", options->full, "run all tests, an hour's with all that they build");
  command->add_flag("--rest", options->rest,
                    "run what is left out without an option, except for the longest: with --full, those too");
  command->add_option("--filter", options->filter,
                      "run only tests whose name matches this regular expression");
  command->add_option("--label", options->label,
                      "run only tests with a label that matches: unit, integration, ...");
  command->add_flag_callback(
      "--gpu", [of = options] { of->label = "^gpu$"; }, "run only tests that need a GPU");
  command->add_flag("--rerun-failed", options->rerun_failed, "run only the tests that failed last time");
  command->add_option("-j,--jobs", options->jobs, "how many tests run at the same time")->check(positive);
  command->add_flag("-v,--verbose", options->verbose, "list the tests that pass as well");
}

void add_doctor_command(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_command(app, exit_code, "doctor",
                  "Report what is installed here, and what you lose for each missing package", run_doctor);
  command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--nccl", options->nccl,
                    "start a rank on each GPU, and show which paths NCCL takes (seconds)");
  command->add_flag("--matrix", options->matrix,
                    "show which operations each backend has here, for tensors on which device (a second)");
  command->footer("The exit code is 3 when something must be fixed.");
}

}  // namespace

void add_checkout_commands(CLI::App& app, int& exit_code) {
  add_test_command(app, exit_code);
  add_doctor_command(app, exit_code);
}

}  // namespace distlab
