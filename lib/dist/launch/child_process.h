// A forked rank, seen from the process that forked it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "dist/core/handles.h"
#include "dist/group/run_rank.h"

namespace dist {

// Kills and reaps the child if it has not been reaped by then: it cannot outlive this object or stay a
// zombie.
class ChildProcess {
 public:
  // Forks. The child calls `body` with the descriptor on which it reports, and leaves by _exit() with the
  // value that `body` returns. It dies with the thread that forked it. Throws Error{resource} if no more
  // processes are possible.
  explicit ChildProcess(const std::function<int(int report_fd)>& body);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // For poll(2): readable when the child has reported or closed, and when it has ended (-1 on old kernels).
  int report_fd() const { return report_.get(); }
  int end_fd() const { return end_.get(); }

  std::optional<RankResult> read_report();  // what has arrived since the last call; never blocks
  bool reap();                              // whether it has ended; never blocks
  bool is_reaped() const { return reaped_; }
  int status() const { return status_; }  // after reap(), as waitpid(2) gives it
  void kill();
  void abandon();  // for a sibling that inherited this object: it must not kill

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  std::string heard_;
  UniqueFd report_, end_;
};

// In the child: sends the parent the result, with at most 32 KiB of text, and never blocks.
void send_report(int report_fd, const RankResult& result);

}  // namespace dist
