#include "watcher.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distrun {

Watcher::Watcher(const Board& board, int attempt, double interval_s) {
  shared_->wake = dist::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!shared_->wake) dist::fail_errno(dist::Errc::resource, errno, "distrun: eventfd");
  if (board.most == 1) return;
  std::thread([=, shared = shared_] { watch(*shared, board, attempt, interval_s); }).detach();
}

Watcher::~Watcher() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->stopped.notify_all();
}

void Watcher::watch(Shared& shared, const Board& board, int attempt, double interval_s) {
  std::unique_lock lock(shared.mutex);
  const auto pause = std::chrono::duration<double>(interval_s);
  while (!shared.stopped.wait_for(lock, pause, [&] { return shared.stop; })) {
    lock.unlock();
    auto failure = board.failure_elsewhere(attempt);
    lock.lock();
    if (!failure) continue;
    shared.news = std::move(failure);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(shared.wake.get(), &one, sizeof one);
    return;
  }
}

std::optional<std::string> Watcher::news() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = read(shared_->wake.get(), &count, sizeof count);
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->news, std::nullopt);
}

}  // namespace distrun
