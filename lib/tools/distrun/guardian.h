// A small process beside distrun that ends the ranks' process groups when distrun is gone, even by SIGKILL.
// (A rank itself dies with distrun by PR_SET_PDEATHSIG; the guardian takes the processes that the rank
// started.)
#pragma once

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distrun {

class Guardian {
 public:
  Guardian();   // forks: before any thread is made
  ~Guardian();  // ends it
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  pid_t pid() const { return pid_; }
  void watch(pid_t group) const { tell(group); }
  void forget(pid_t group) const { tell(-group); }

 private:
  void tell(pid_t message) const;
  pid_t pid_ = -1;
  dist::UniqueFd line_;
};

}  // namespace distrun
