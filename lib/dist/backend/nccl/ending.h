// Ending: a call that ends a communicator. NCCL makes its caller wait for its kernels, its threads and the
// driver, forever when one of them is stuck; so a thread of its own makes the call.
#pragma once

#include <functional>
#include <memory>

#include "dist/core/deadline.h"

namespace dist::nccl {

// Thread-safe.
class Ending {
 public:
  Ending();
  ~Ending();  // waits a second, unless leave() was called; then the thread is left to itself
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  // To be called once. The call owns what it touches and does not throw.
  void begin(std::function<void()> call) noexcept;
  // Whether the call ended in time; true if none was begun.
  bool wait(const Deadline& deadline);
  void leave() { is_left_ = true; }  // the call may take as long as it likes

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread
  bool is_left_ = false;
};

}  // namespace dist::nccl
