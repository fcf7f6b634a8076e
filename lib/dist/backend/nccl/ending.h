// Ending: a call that ends a communicator. NCCL makes its caller wait for its kernels, its threads and the
// driver, for ever when one of them is stuck; so a thread of its own makes the call.
#pragma once

#include <functional>
#include <memory>

#include "dist/core/deadline.h"

namespace dist::nccl {

// Thread-safe.
class Ending {
 public:
  Ending();
  ~Ending();  // waits a second; then the thread is left to itself
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  // Once. The call owns what it touches and does not throw.
  void begin(std::function<void()> call) noexcept;
  // Whether it ended in time; so it did if none was begun.
  bool wait(const Deadline& deadline);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // of the thread, too
};

}  // namespace dist::nccl
