// What the sources of the command line share. Only they include this header, and with it CLI11.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "distlab/commands.h"

namespace distlab {

// A command with options of its own. CLI11 fills them in and runs the command at the end of parsing; its
// result goes to `exit_code`, which must live as long as the app.
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

inline void add_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                        int (*run)()) {
  app.add_subcommand(name, help)->callback([&exit_code, run] { exit_code = run(); });
}

inline constexpr auto which_lab = "number of the lab (1), or the beginning of its name";

// Each adds the commands of one family, with their options and help.
void add_lab_commands(CLI::App& app, int& exit_code);       // list, start, run, grade, hint, answer, watch
void add_file_commands(CLI::App& app, int& exit_code);      // solution, submit, reset
void add_class_commands(CLI::App& app, int& exit_code);     // class, slides, gradescope
void add_checkout_commands(CLI::App& app, int& exit_code);  // test, doctor
void add_bench_command(CLI::App& app, int& exit_code);
void add_show_command(CLI::App& app, int& exit_code);
void add_sim_command(CLI::App& app, int& exit_code);
void add_trace_command(CLI::App& app, int& exit_code);
void add_train_command(CLI::App& app, int& exit_code);
void add_data_command(CLI::App& app, int& exit_code);

}  // namespace distlab
