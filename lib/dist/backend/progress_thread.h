// The progress thread of a group: runs submitted collectives in order, and between them moves the messages
// that no thread is waiting for: large ones at once, small ones every millisecond, because most are waited
// for soon, and waking a thread takes longer than the message. The first asynchronous operation starts it; it
// sleeps when there is nothing to do.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dist/backend/collective_work.h"
#include "dist/backend/message_work.h"
#include "dist/core/tasking.h"

namespace dist {

// Thread-safe.
class ProgressThread {
 public:
  struct Callbacks {
    std::function<void()> started;                   // called first on the thread
    std::function<void(const CollectiveWork&)> run;  // runs one collective; throws its errors
    // For a collective that will not run: returns the error that its wait() throws.
    std::function<std::exception_ptr(const CollectiveWork&)> abandon;
  };
  ProgressThread(std::shared_ptr<Mover> mover, Callbacks callbacks);
  ~ProgressThread();  // queued collectives end with Error{aborted}; a running one is waited for

  void submit(std::shared_ptr<CollectiveWork> work);
  void look_after(std::shared_ptr<MessageWork> work);  // until it has ended, even when its Work is dropped
  bool is_idle() const { return idle_now_.load(); }    // whether no collective is queued or running
  void wait_idle();
  std::vector<std::shared_ptr<MessageWork>> messages();  // the messages that have not ended

 private:
  void start_locked();
  void loop();
  void run_front(std::unique_lock<std::mutex>& lock);
  void move_messages(std::unique_lock<std::mutex>& lock);
  void rest(std::unique_lock<std::mutex>& lock);
  void drop_ended(std::unique_lock<std::mutex>& lock, std::size_t looks_at_once);
  std::size_t drop_known_to_have_ended(std::size_t looks);
  bool is_over(const std::shared_ptr<MessageWork>& message);  // if so, it is not counted any more
  void wake_locked();

  std::shared_ptr<Mover> mover_;
  Callbacks callbacks_;
  std::mutex mutex_;  // guards everything below
  Condition changed_;
  Condition idle_;
  std::deque<std::shared_ptr<CollectiveWork>> queue_;
  std::deque<std::shared_ptr<MessageWork>> messages_;
  std::size_t long_messages_ = 0;     // how many of them are large
  bool running_ = false;              // whether a collective is running
  std::atomic<bool> idle_now_{true};  // written under the mutex
  bool moving_ = false;               // whether messages are being moved
  bool resting_ = false;              // whether it sleeps until the next poll of small ones
  bool stopping_ = false;
  // Where messages move by themselves: how many came since the last check of all, and when the next check is
  // due.
  std::size_t listed_ = 0, prune_at_ = 16;
  Worker thread_;
};

}  // namespace dist
