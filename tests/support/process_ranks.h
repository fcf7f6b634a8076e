// Ranks as forked processes that may die: unlike dist::spawn, which ends all ranks at the first failure, this
// lets a test watch what each survivor says, and when.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "dist/core/handles.h"
#include "dist/store/tcp_store.h"

namespace dist::test {

class ProcessRanks {
 public:
  using Clock = std::chrono::steady_clock;
  struct Report {
    std::string text;  // what the rank's function returned, or its exception's text; empty when it was killed
    int signal = 0;    // that ended it, or 0
    Clock::time_point ended;
  };

  // Starts n processes; each calls fn(rank, ready) inside a job of its own. `ready()` tells the parent that
  // this rank has reached the point that the test waits for.
  using Body = std::function<std::string(int rank, const std::function<void()>& ready)>;
  ProcessRanks(int n, const Body& fn);
  ~ProcessRanks();  // kills what is left
  ProcessRanks(const ProcessRanks&) = delete;
  ProcessRanks& operator=(const ProcessRanks&) = delete;

  bool wait_ready(std::chrono::milliseconds patience);  // all ranks called ready()
  void signal(int rank, int number);
  void kill(int rank);  // SIGKILL; then notifies the ranks that still join, as every launcher does
  // Waits for all to end; those that have not after `patience` are killed, their text is "still running".
  std::vector<Report> join(std::chrono::milliseconds patience);

 private:
  struct Child {
    pid_t pid = -1;
    UniqueFd pipe;
    std::string said;
    bool ready = false, ended = false;
    Report report;
  };
  void pump(std::chrono::milliseconds patience);
  void reap(Child& child);
  std::unique_ptr<StoreServer> server_;
  std::vector<Child> children_;
};

}  // namespace dist::test
