// ForkGate: parent and child of a fork() share the arena's pages, so the child must copy what is in use
// before the parent writes to it again. The parent waits at a pipe until the child closes its end (or dies).
#pragma once

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "dist/core/handles.h"

namespace dist {

class ForkGate {
 public:
  void close() {  // before the fork
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    wait_ = UniqueFd(ends[0]);
    open_ = UniqueFd(ends[1]);
  }
  void await_child() {  // in the parent
    open_.reset();
    char byte = 0;
    while (wait_ && ::read(wait_.get(), &byte, 1) < 0 && errno == EINTR) {
    }
    wait_.reset();
  }
  void open() {  // in the child
    wait_.reset();
    open_.reset();
  }

 private:
  UniqueFd wait_, open_;
};

}  // namespace dist
