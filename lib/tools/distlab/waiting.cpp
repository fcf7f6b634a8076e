#include "distlab/waiting.h"

#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace distlab {

using namespace std::chrono_literals;

Waiting::~Waiting() {
  clear();
  if (!ticker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
  ticker_.join();
}

void Waiting::show(std::string what) {
  if (!stdout_is_terminal()) return;
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  draw();
  if (ticker_.joinable()) return;
  // The process's signals are for the thread that waits, which they must interrupt.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  ticker_ = std::thread([this] { tick(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Waiting::clear() {
  const std::lock_guard lock(mutex_);
  what_.clear();
  line_.clear();
}

void Waiting::draw() {
  const auto passed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - since_);
  line_.show(passed < 2s ? what_ : fmt::format("{}, {} s so far", what_, passed.count()));
}

void Waiting::tick() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, 1s, [&] { return has_ended_; })) {
    if (!what_.empty()) draw();
  }
}

}  // namespace distlab
