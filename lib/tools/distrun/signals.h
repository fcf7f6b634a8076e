// Signals as events: what distrun is told (SIGINT, SIGTERM, SIGHUP), what is meant for its ranks (SIGUSR1,
// SIGUSR2) and the end of its children, in one descriptor.
#pragma once

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distrun {

class Signals {
 public:
  Signals();  // blocks them in this thread and those that it makes; orphans of ranks become our children
  int fd() const { return fd_.get(); }
  int next();  // a signal that came, or 0; never blocks

  // While nothing of ours runs, those that end distrun may do so in the usual way.
  void let_through() const;
  void hold() const;

 private:
  dist::UniqueFd fd_;
};

// Ends and reaps what ranks have left behind: children of ours other than `keep`. Called when no rank runs.
void end_orphans(pid_t keep);

}  // namespace distrun
