#include "watcher.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distrun {

Watcher::Watcher(Nodes& nodes, int attempt, double interval_s)
    : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) dist::fail_errno(dist::Errc::resource, errno, "distrun: eventfd");
  if (nodes.place().nodes > 1)
    thread_ = std::thread([=, this, &nodes] { watch(nodes, attempt, interval_s); });
}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watcher::watch(Nodes& nodes, int attempt, double interval_s) {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, std::chrono::duration<double>(interval_s), [&] { return stop_; })) {
    lock.unlock();
    auto failure = nodes.failure_elsewhere(attempt);
    lock.lock();
    if (!failure) continue;
    news_ = std::move(failure);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof one);
    return;
  }
}

std::optional<std::string> Watcher::news() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = read(wake_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, std::nullopt);
}

}  // namespace distrun
