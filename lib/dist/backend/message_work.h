// A send or receive in flight, independent of everything else.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "dist/backend/observer.h"
#include "dist/backend/operation.h"
#include "dist/backend/work.h"
#include "dist/core/tasking.h"
#include "dist/transport/message.h"

namespace dist {

// Thread-safe: the user waits for it, and the progress thread moves it in the meantime.
class MessageWork final : public WorkState {
 public:
  // Starts the transfer on `transport`, which was opened for it alone. Errors are kept for wait().
  MessageWork(Operation op, std::unique_ptr<Transport> transport, std::shared_ptr<Mover> mover,
              OperationObserver* observer, Members members);
  // A message that failed before it could start.
  MessageWork(Operation op, std::exception_ptr error);

  void wait(Timeout timeout) override;
  bool is_completed() override;
  int source_rank() override;
  bool has_ended();                            // like is_completed(), but does not poll the transfer
  bool is_left_alone();                        // it has not ended, and no thread waits for it
  bool is_short() const { return is_short_; }  // see Request::is_short()

  // Cancels the message unless it has ended or a thread is waiting for it; wait() then throws Error{aborted}
  // with `reason`. Returns whether it was cancelled.
  bool give_up(const std::string& reason);
  // The same, but first makes a thread that waits for it end.
  void cancel(const std::string& reason, Deadline deadline);

  const Operation operation;

 private:
  // Only one thread at a time may use the transport. False when `deadline` passed first.
  bool acquire(Deadline deadline);
  void release();
  bool is_ready() noexcept;
  void end_transfer();  // waits for the request and keeps its result
  void end(std::exception_ptr error);
  std::string peer_name() const;  // "rank 3", a global rank
  void wait_in_slices(Deadline deadline, Timeout timeout);
  void abort(const std::string& reason);  // to be called after acquire()

  std::unique_ptr<Transport> transport_;
  std::shared_ptr<Mover> mover_;
  OperationObserver* observer_ = nullptr;
  Members members_;
  bool is_short_ = false;

  std::mutex mutex_;  // guards the four below
  Condition released_;
  bool in_use_ = false;
  bool done_ = false;
  int source_ = -1;
  std::exception_ptr error_;
  Request request_;  // after transport_, so destroyed before it
};

// The operation's message.
Message message_of(const Operation& operation);

}  // namespace dist
