// Signals as events of one descriptor: those that end distrun (SIGINT, SIGTERM, SIGHUP, SIGQUIT), that stop
// and continue it (SIGTSTP, SIGCONT), that are meant for its ranks (SIGUSR1, SIGUSR2), and the end of a
// child.
#pragma once

#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "dist/core/deadline.h"
#include "dist/core/handles.h"

namespace distrun {

// The signals that distrun ignored and blocked when it was started: a rank must start with the same.
struct InheritedSignals {
  InheritedSignals();  // of this process, now
  bool ignores(int number) const;
  // Call it between fork and exec: it restores the mask and SIGPIPE. (SIGCHLD is not restored, because
  // distrun needs it for its own children.)
  void restore() const;

 private:
  sigset_t ignored_, mask_;
};

class Signals {
 public:
  // Blocks the signals in this thread and in threads started by it; orphans of ranks become children of
  // distrun. Signals that were ignored when distrun was started stay ignored (nohup ignores SIGHUP; a
  // script's background job ignores SIGINT).
  Signals();
  int fd() const { return fd_.get(); }
  int next();  // the next signal, or 0 if there is none; never blocks
  // Whether the last signal repeats the one before it for another sender: a terminal's Ctrl-C, or a
  // scheduler's SIGTERM, reaches distrun and its parent, which passes it on.
  bool is_echo() const { return is_echo_; }
  const InheritedSignals& inherited() const { return inherited_; }

  // While no rank runs, the signals that end or stop distrun may do so in the usual way.
  void let_through() const;
  void hold() const;
  // Stops this process as SIGTSTP does, until SIGCONT. Returns false when it did not stop, because no shell
  // could continue it.
  bool stop_here() const;

 private:
  sigset_t usual() const;  // those that end or stop distrun
  const InheritedSignals inherited_;
  dist::UniqueFd fd_;
  struct Heard {
    int number = 0, code = 0;  // by code, signal(7): who sent it
    pid_t sender = 0;
    dist::Deadline until = dist::Deadline::after(dist::Timeout::zero());  // when it no longer has an echo
  } last_;
  bool is_echo_ = false;
};

// Ends and reaps the processes that ranks have left behind: all children of distrun but `keep`. Call it when
// no rank runs.
void end_orphans(pid_t keep);

}  // namespace distrun
