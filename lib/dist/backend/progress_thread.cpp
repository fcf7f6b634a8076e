// The progress thread. loop() runs the first collective of the queue (run_front), else moves messages
// (move_messages), else rests for a moment when only small ones are left (rest), else sleeps. drop_ended()
// forgets messages that have ended.
#include "dist/backend/progress_thread.h"

#include <algorithm>
#include <system_error>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/core/tasking.h"

namespace dist {

// How long the thread stays with the mover before it checks again which messages are left.
constexpr Timeout longest_stay = std::chrono::milliseconds(20);
// How long a small message is left to the thread that waits for it.
constexpr Timeout time_for_short = std::chrono::milliseconds(1);

// How many messages are polled at a time, however many there are: a message that is found to have ended costs
// one poll, and the others are moved in any case.
constexpr std::size_t looks_a_turn = 64;

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
  while (!messages_.empty() && is_over(messages_.front())) messages_.pop_front();
  long_messages_ += work->is_short() ? 0 : 1;
  messages_.push_back(std::move(work));
  if (mover_->moves_alone()) {
    if (++listed_ < prune_at_) return;
    drop_ended(lock, messages_.size());
    listed_ = messages_.size();
    prune_at_ = std::max<std::size_t>(16, 2 * listed_);
    return;
  }
  start_locked();
  const bool can_wait = messages_.back()->is_short() && (moving_ || resting_);
  if (!running_ && !can_wait) wake_locked();  // a running collective moves messages, too
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
    } else if (long_messages_ > 0) {
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
  // This comes last: a thread that waits for this work then finds this one idle, and runs its next operation
  // itself.
  work->finish(std::move(error));
}

void ProgressThread::move_messages(std::unique_lock<std::mutex>& lock) {
  moving_ = true;
  lock.unlock();
  bool mover_failed = false;
  try {
    mover_->progress(longest_stay);
  } catch (...) {
    mover_failed = true;  // each message gets its own error when it is polled
  }
  lock.lock();
  moving_ = false;
  if (mover_failed) changed_.wait_until(lock, Deadline::after(longest_stay));
  drop_ended(lock, looks_a_turn);
}

// Sleeps, then polls, unless a thread has begun to wait for the message that was the oldest before.
void ProgressThread::rest(std::unique_lock<std::mutex>& lock) {
  const auto oldest = messages_.front();
  resting_ = true;
  changed_.wait_until(lock, Deadline::after(time_for_short));
  resting_ = false;
  if (!oldest->is_left_alone()) return void(drop_known_to_have_ended(looks_a_turn));
  lock.unlock();
  mover_->progress(Timeout::zero());
  lock.lock();
  drop_ended(lock, looks_a_turn);
}

void ProgressThread::drop_ended(std::unique_lock<std::mutex>& lock, std::size_t looks_at_once) {
  std::size_t looks = 0, dropped = 0;
  do {
    looks = std::min(messages_.size(), looks_at_once);
    const std::vector<std::shared_ptr<MessageWork>> looked_at(
        messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(looks));
    lock.unlock();
    for (const auto& message : looked_at) message->is_completed();
    lock.lock();
    dropped = drop_known_to_have_ended(looks);
  } while (looks > 0 && dropped == looks);
}

bool ProgressThread::is_over(const std::shared_ptr<MessageWork>& message) {
  if (!message->has_ended()) return false;
  if (!message->is_short()) --long_messages_;
  return true;
}

// Checks the first `looks` messages. Those that have not ended go to the end, unless these are all there are.
std::size_t ProgressThread::drop_known_to_have_ended(std::size_t looks) {
  if (looks >= messages_.size())
    return std::erase_if(messages_, [this](const auto& message) { return is_over(message); });
  std::size_t dropped = 0;
  for (; looks > 0; --looks) {
    const auto message = std::move(messages_.front());
    messages_.pop_front();
    is_over(message) ? void(++dropped) : messages_.push_back(message);
  }
  return dropped;
}

}  // namespace dist
