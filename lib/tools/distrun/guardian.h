// Guardian: a small process beside distrun that ends the ranks' process groups when distrun is gone, even if
// it was killed by SIGKILL. (PR_SET_PDEATHSIG ends a rank together with distrun; the guardian ends the
// processes that the rank has started.)
#pragma once

#include <sys/types.h>

#include "dist/core/handles.h"

namespace distrun {

class Guardian {
 public:
  Guardian();   // forks, so it must be made before any thread
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
