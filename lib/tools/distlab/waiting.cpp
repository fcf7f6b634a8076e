#include "distlab/waiting.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace distlab {

using namespace std::chrono_literals;

std::string time_left(std::chrono::duration<double> taken, double share) {
  const double left = taken.count() * std::max(0., 1 - share) / share;
  return left < 90 ? fmt::format("about {:.0f} s left", std::max(1., left))
                   : fmt::format("about {:.0f} min left", left / 60);
}

std::string progress_bar(double share) {
  constexpr int for_figures = 100, least = 8, most = 24;  // columns
  const int width = std::min(terminal_columns() - for_figures, most);
  if (width < least) return "";
  const auto full = static_cast<std::size_t>(std::clamp(share, 0., 1.) * width);
  return fmt::format(" [{}{}]", std::string(full, '='),
                     std::string(static_cast<std::size_t>(width) - full, ' '));
}

Waiting::Waiting(std::string what, Share share) : what_(std::move(what)), share_(std::move(share)) {
  if (can_rewrite_lines()) begin_ticking();
}

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

void Waiting::show(const std::string& what, std::size_t done, std::size_t all) {
  const double share = static_cast<double>(done) / static_cast<double>(all);
  show(fmt::format("{} {} of {}", what, done + 1, all), [share] { return share; });
}

void Waiting::show(std::string what, Share share) {
  if (!can_rewrite_lines()) return;
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  share_ = std::move(share);
  draw();
  if (ticks_ == Ticks::every_second && !ticker_.joinable()) begin_ticking();
}

void Waiting::begin_ticking() {
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
  const std::chrono::duration<double> passed = Clock::now() - since_;
  const double share = share_ ? share_() : 0;
  line_.show(passed < 2s ? what_
             : share > 0 ? fmt::format("{}, {}", what_, time_left(passed, share))
                         : fmt::format("{}, {} s so far", what_, static_cast<int>(passed.count())));
}

void Waiting::tick() {
  std::unique_lock lock(mutex_);
  auto pause = 500ms;
  while (!changed_.wait_for(lock, pause, [&] { return has_ended_; })) {
    if (!what_.empty()) draw();
    pause = 1s;
  }
}

}  // namespace distlab
