// A file descriptor that forked children do not share: its peer notices the end of this process, although
// forked processes inherit the number (there it leads to /dev/null).
#pragma once

#include "dist/core/handles.h"

namespace dist {

// In a child that fork() makes while this lives, the descriptor leads to /dev/null (exec closes it, as it
// closes all of the library's).
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
