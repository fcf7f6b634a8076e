#include "dist/backend/progress_thread.h"

#include <algorithm>
#include <system_error>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist {

// How long the thread stays with the mover before it looks again at which messages are left.
constexpr Timeout patience = std::chrono::milliseconds(20);

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
  if (mover_->moves_alone()) {
    while (!messages_.empty() && messages_.front()->has_ended()) messages_.pop_front();
    messages_.push_back(std::move(work));
    if (++listed_ < prune_at_) return;
    drop_ended(lock);
    listed_ = messages_.size();
    prune_at_ = std::max<std::size_t>(16, 2 * listed_);
    return;
  }
  messages_.push_back(std::move(work));
  start_locked();
  if (!running_) wake_locked();  // a running collective moves messages too
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
    } else if (!messages_.empty() && !mover_->moves_alone()) {
      move_messages(lock);
    } else {
      changed_.wait(lock);
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

void ProgressThread::drop_ended(std::unique_lock<std::mutex>& lock) {
  const auto looked_after = messages_;
  lock.unlock();
  std::vector<const MessageWork*> ended;
  for (const auto& message : looked_after) {
    if (message->is_completed()) ended.push_back(message.get());
  }
  lock.lock();
  for (const auto* message : ended) {
    std::erase_if(messages_, [message](const auto& candidate) { return candidate.get() == message; });
  }
}

}  // namespace dist
