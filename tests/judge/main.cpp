// main() of every grading program.
#include <csignal>

#include "dist/core/standard_streams.h"

#include "judge/exam.h"

// However it was started: with closed streams, or by a program that does not want to hear of its children.
int main(int argc, char** argv) {
  dist::open_standard_streams();
  std::signal(SIGCHLD, SIG_DFL);
  return judge::run_exam(argc, argv);
}
