// HeardChildren: the launcher learns how its children end.
#pragma once

#include <signal.h>

namespace dist {

// If a program ignores SIGCHLD, by itself or because it was started that way, the system reaps its children,
// and no one learns how they ended. So the default is in force while this lives.
class HeardChildren {
 public:
  HeardChildren() {
    sigaction(SIGCHLD, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN && (before_.sa_flags & SA_NOCLDWAIT) == 0) return;
    struct sigaction heard {};
    heard.sa_handler = SIG_DFL;
    replaced_ = sigaction(SIGCHLD, &heard, nullptr) == 0;
  }
  ~HeardChildren() {
    if (replaced_) sigaction(SIGCHLD, &before_, nullptr);
  }
  HeardChildren(const HeardChildren&) = delete;
  HeardChildren& operator=(const HeardChildren&) = delete;

 private:
  struct sigaction before_ {};
  bool replaced_ = false;
};

}  // namespace dist
