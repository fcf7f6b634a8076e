// Processes that gradings leave behind are found and reaped, and never mistaken for a job.
#include "distlab/stray_processes.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

int children_of_this() {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) ++count;
  }
  return count;
}

// A process that leaves `orphans` behind, which end soon.
void leave_behind(int orphans) {
  const pid_t parent = fork();
  if (parent == 0) {
    for (int i = 0; i < orphans; ++i)
      if (fork() == 0) _exit(0);
    _exit(0);
  }
  waitpid(parent, nullptr, 0);
}

TEST(StrayProcesses, ThoseThatHaveEndedAreGivenBackAndJobsAreLeftAlone) {
  distlab::adopt_stray_processes();
  const pid_t job = fork();
  if (job == 0) _exit(7);
  for (int round = 0; round < 5; ++round) leave_behind(20);
  for (int wait = 0; wait < 500 && children_of_this() > 1; ++wait) {
    distlab::reap_stray_processes({job});
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(children_of_this(), 1) << "the job";
  int status = 0;
  EXPECT_EQ(waitpid(job, &status, 0), job) << "no other process has waited for it";
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(StrayProcesses, ThoseThatGoOnAreEnded) {
  distlab::adopt_stray_processes();
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) pause();
    _exit(0);
  }
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(children_of_this(), 1);
  distlab::end_stray_processes();
  EXPECT_EQ(children_of_this(), 0);
}

}  // namespace
