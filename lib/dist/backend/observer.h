// What a backend reports to the group that owns it. The flight recorder, the mismatch check and the watchdog
// listen here, so that no backend needs to know them.
#pragma once

#include <exception>
#include <string_view>

#include "dist/backend/operation.h"

namespace dist {

// How an operation runs.
struct Plan {
  std::string_view algorithm = {};  // empty for point-to-point
  bool in_shared_memory = false;    // the ranks read and write each other's memory: nothing is sent
};

// Called on the thread that runs the operation; by several threads at once for different operations.
class OperationObserver {
 public:
  virtual ~OperationObserver() = default;
  // A thread of the backend has started: it takes on the rank's identity.
  virtual void thread_started() = 0;
  // The operation is about to run, in this way. Not called for a message for which its rank blocks.
  // Collectives of one group come in order. An Error thrown here becomes the operation's own; then nothing of
  // it moves.
  virtual void starting(const Operation& operation, const Plan& way) = 0;
  virtual void completed(const Operation& operation) noexcept = 0;
  // Returns the error that the user gets: this one, perhaps with what is known about the other ranks added.
  virtual std::exception_ptr failed(const Operation& operation, std::exception_ptr error) noexcept = 0;
};

}  // namespace dist
