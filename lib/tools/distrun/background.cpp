#include "background.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace distrun {

struct Background::State {
  std::mutex mutex;
  std::condition_variable posted, done;
  std::deque<std::function<void()>> calls;  // the first one is running
  bool has_thread = false, is_over = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      posted.wait(lock, [&] { return is_over || !calls.empty(); });
      if (calls.empty()) return;
      const auto call = calls.front();
      lock.unlock();
      call();
      lock.lock();
      calls.pop_front();
      if (calls.empty()) done.notify_all();
    }
  }
};

Background::Background() : state_(std::make_shared<State>()) {}

Background::~Background() {
  const std::lock_guard lock(state_->mutex);
  state_->is_over = true;
  state_->posted.notify_all();
}

void Background::post(std::function<void()> call) {
  const std::lock_guard lock(state_->mutex);
  if (!std::exchange(state_->has_thread, true)) std::thread([state = state_] { state->run(); }).detach();
  state_->calls.push_back(std::move(call));
  state_->posted.notify_all();
}

bool Background::is_done_by(dist::Deadline deadline) {
  std::unique_lock lock(state_->mutex);
  const auto is_done = [&] { return state_->calls.empty(); };
  constexpr dist::Timeout most = std::chrono::seconds(1);  // a condition cannot wait forever by its time
  while (!is_done() && !deadline.passed()) state_->done.wait_for(lock, std::min(deadline.left(), most));
  return is_done();
}

}  // namespace distrun
