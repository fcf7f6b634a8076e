// The commands of the program `distlab`, one source file (or more) each.
#pragma once

#include <CLI/CLI.hpp>

namespace distlab {

// What scripts can rely on. A callback ends its command with `throw CLI::RuntimeError(exit_failed)`; it has
// said why before. Returning normally is exit_ok.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;  // a test failed, a grade is not full, a program ended with an error
inline constexpr int exit_usage = 2;   // the command line makes no sense
inline constexpr int exit_missing =
    3;  // something that is needed is not there; the message says how to get it

// Each adds its subcommand(s) with help, options and callback.
void add_demo_command(CLI::App& app);
void add_doctor_command(CLI::App& app);
void add_lab_commands(CLI::App& app);  // list, run, grade, hint
void add_test_command(CLI::App& app);

}  // namespace distlab
