#include "dist/backend/progress_thread.h"

#include <algorithm>
#include <system_error>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist {

// How long the thread stays with the mover before it looks again at which messages are left.
constexpr Timeout patience = std::chrono::milliseconds(20);
// How long a short message is left to whoever waits for it.
constexpr Timeout time_for_short = std::chrono::milliseconds(1);

ProgressThread::ProgressThread(std::shared_ptr<Mover> mover, Callbacks callbacks)
    : mover_(std::move(mover)), callbacks_(std::move(callbacks)) {}

ProgressThread::~ProgressThread() {
  std::deque<std::shared_ptr<CollectiveWork>> never_run;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    never_run.swap(queue_);
    wake_locked();
  }
  if (thread_.joinable()) thread_.join();
  for (const auto& work : never_run) work->finish(callbacks_.abandon(*work));
}

void ProgressThread::submit(std::shared_ptr<CollectiveWork> work) {
  std::lock_guard lock(mutex_);
  start_locked();
  queue_.push_back(std::move(work));
  idle_now_ = false;
  wake_locked();
}

void ProgressThread::look_after(std::shared_ptr<MessageWork> work) {
  std::unique_lock lock(mutex_);
  while (!messages_.empty() && messages_.front()->has_ended()) messages_.pop_front();
  messages_.push_back(std::move(work));
  if (mover_->moves_alone()) {
    if (++listed_ < prune_at_) return;
    drop_ended(lock);
    listed_ = messages_.size();
    prune_at_ = std::max<std::size_t>(16, 2 * listed_);
    return;
  }
  start_locked();
  const bool can_wait = messages_.back()->is_short() && (moving_ || resting_);
  if (!running_ && !can_wait) wake_locked();  // a running collective moves messages too
}

void ProgressThread::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return queue_.empty() && !running_; });
}

std::vector<std::shared_ptr<MessageWork>> ProgressThread::messages() {
  std::lock_guard lock(mutex_);
  return {messages_.begin(), messages_.end()};
}

void ProgressThread::start_locked() {
  if (thread_.joinable()) return;
  try {
    thread_ = Worker([this] { loop(); });
  } catch (const std::system_error& error) {
    fail(Errc::resource, "rank {}: no thread for asynchronous operations: {}", current_rank_label(),
         error.what());
  }
}

void ProgressThread::wake_locked() {
  changed_.notify_all();
  if (moving_) mover_->interrupt();
}

void ProgressThread::loop() {
  callbacks_.started();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!queue_.empty()) {
      run_front(lock);
    } else if (messages_.empty() || mover_->moves_alone()) {
      changed_.wait(lock);
    } else if (has_long_message()) {
      move_messages(lock);
    } else {
      rest(lock);
    }
  }
}

void ProgressThread::run_front(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<CollectiveWork> work = std::move(queue_.front());
  queue_.pop_front();
  running_ = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    callbacks_.run(*work);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  running_ = false;
  idle_now_ = queue_.empty();
  if (queue_.empty()) idle_.notify_all();
  // Last: whoever waits for this work finds the thread idle, and runs its next operation itself.
  work->finish(std::move(error));
}

void ProgressThread::move_messages(std::unique_lock<std::mutex>& lock) {
  moving_ = true;
  lock.unlock();
  bool mover_failed = false;
  try {
    mover_->progress(patience);
  } catch (...) {
    mover_failed = true;  // each message gets its own error when it is looked at
  }
  lock.lock();
  moving_ = false;
  if (mover_failed) changed_.wait_until(lock, Deadline::after(patience));
  drop_ended(lock);
}

bool ProgressThread::has_long_message() const {
  return std::ranges::any_of(messages_, [](const auto& message) { return !message->is_short(); });
}

// Then looks, unless the message that was there before is one that somebody waits for.
void ProgressThread::rest(std::unique_lock<std::mutex>& lock) {
  const auto oldest = messages_.front();
  resting_ = true;
  changed_.wait_until(lock, Deadline::after(time_for_short));
  resting_ = false;
  if (!oldest->is_left_alone()) return drop_known_to_have_ended();
  lock.unlock();
  mover_->progress(Timeout::zero());
  lock.lock();
  drop_ended(lock);
}

void ProgressThread::drop_ended(std::unique_lock<std::mutex>& lock) {
  const auto looked_after = messages_;
  lock.unlock();
  for (const auto& message : looked_after) message->is_completed();
  lock.lock();
  drop_known_to_have_ended();
}

void ProgressThread::drop_known_to_have_ended() {
  std::erase_if(messages_, [](const auto& message) { return message->has_ended(); });
}

}  // namespace dist
