// A file descriptor that forked children have no part in: its peer sees the end of this process, whoever goes
// on with a copy of it.
#pragma once

#include "dist/core/handles.h"

namespace dist {

// In a child that fork() makes, while this lives, the descriptor leads to /dev/null (exec closes it, as all
// of ours).
class PrivateFd {
 public:
  PrivateFd() = default;
  explicit PrivateFd(UniqueFd fd);
  PrivateFd(PrivateFd&& other) noexcept = default;
  PrivateFd& operator=(PrivateFd&& other) noexcept;
  ~PrivateFd() { reset(); }

  int get() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  void reset() noexcept;

 private:
  UniqueFd fd_;
};

}  // namespace dist
