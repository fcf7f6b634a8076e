// On a terminal, nothing that this process prints is wider than the terminal.
#pragma once

namespace distlab {

// From now on, breaks the lines on standard output and standard error as fitted() does (columns.h), each if
// it is a terminal or offer_columns() was called by the program that has started this one; what goes
// elsewhere stays as it is. Call it once, before anything is printed. Does not concern what other processes
// print.
void fit_output();

// Ends that, for a command that draws whole screens.
void do_not_fit_output();

}  // namespace distlab
