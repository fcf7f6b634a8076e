#include "distlab/class/stray_processes.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace distlab {
namespace {

// False when there was none.
bool kill_children() {
  bool any = false;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child; any = true) ::kill(child, SIGKILL);
  }
  return any;
}

}  // namespace

void adopt_stray_processes() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

void end_stray_processes() {
  using namespace std::chrono_literals;
  constexpr int rounds = 200;  // a fork bomb needs several
  for (int round = 0; round < rounds && kill_children(); ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace distlab
