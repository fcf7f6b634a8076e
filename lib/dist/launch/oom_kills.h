// Whether the kernel's out-of-memory killer was at work: its victims are just "killed by signal 9".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dist {

// The kernel's counts of processes that it has killed for lack of memory: those of this process's control
// group (version 1 or 2) and of the machine.
class OomKills {
 public:
  // Counts from now on. `root`: where /proc and /sys are, for tests.
  explicit OomKills(std::string root = "");

  // ", probably by the kernel's out-of-memory killer ...", with advice; empty if no process was killed since.
  std::string explain() const;

 private:
  struct Count {
    std::string path;  // a file with a line "oom_kill 3"
    std::int64_t before = 0;
  };
  std::vector<Count> counts_;
  std::string limit_path_;  // the file with the control group's memory limit in bytes
};

}  // namespace dist
