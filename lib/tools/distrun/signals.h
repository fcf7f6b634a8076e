// Signals as events: what ends distrun (SIGINT, SIGTERM, SIGHUP, SIGQUIT), what stops it and lets it go on
// (SIGTSTP, SIGCONT), what is meant for its ranks (SIGUSR1, SIGUSR2) and the end of its children, in one
// descriptor.
#pragma once

#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "dist/core/handles.h"

namespace distrun {

// How distrun was started: what a rank must find, too.
struct InheritedSignals {
  InheritedSignals();  // of this process, now
  bool ignores(int number) const;
  // Between fork and exec: the mask, and SIGPIPE as it was. (SIGCHLD is heard: distrun needs its children.)
  void restore() const;

 private:
  sigset_t ignored_, mask_;
};

class Signals {
 public:
  // Blocks them in this thread and those that it makes; orphans of ranks become our children. What was
  // ignored when distrun was started stays ignored (nohup; a script's background job ignores SIGINT).
  Signals();
  int fd() const { return fd_.get(); }
  int next();  // a signal that came, or 0; never blocks
  const InheritedSignals& inherited() const { return inherited_; }

  // While nothing of ours runs, those that end or stop distrun may do so in the usual way.
  void let_through() const;
  void hold() const;
  // Stops this process as SIGTSTP does, until SIGCONT. False: it did not stop, for no shell could wake it.
  bool stop_here() const;

 private:
  sigset_t usual() const;  // those that end or stop distrun
  const InheritedSignals inherited_;
  dist::UniqueFd fd_;
};

// Ends and reaps what ranks have left behind: children of ours other than `keep`. Called when no rank runs.
void end_orphans(pid_t keep);

}  // namespace distrun
