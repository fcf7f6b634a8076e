// The command line of distlab.
#pragma once

namespace distlab {

// Runs the command that main()'s arguments ask for and returns its exit code. Answers --help and wrong usage
// itself. Throws what the commands throw.
int run_command_line(int argc, char** argv);

}  // namespace distlab
