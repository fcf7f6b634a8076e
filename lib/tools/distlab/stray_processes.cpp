#include "distlab/stray_processes.h"

#include <algorithm>
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

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream of_thread(thread.path() / "children");
    for (pid_t child = 0; of_thread >> child;) all.push_back(child);
  }
  return all;
}

// Returns false when there was none.
bool kill_children() {
  const auto all = children();
  for (const pid_t child : all) ::kill(child, SIGKILL);
  return !all.empty();
}

}  // namespace

void adopt_stray_processes() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

void reap_stray_processes(const std::vector<pid_t>& jobs) {
  for (const pid_t child : children())
    if (std::ranges::find(jobs, child) == jobs.end()) ::waitpid(child, nullptr, WNOHANG);
}

void end_stray_processes() {
  using namespace std::chrono_literals;
  constexpr int rounds = 200;  // ending a fork bomb takes several rounds
  for (int round = 0; round < rounds && kill_children(); ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace distlab
