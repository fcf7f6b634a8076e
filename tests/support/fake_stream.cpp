#include "support/fake_stream.h"

#include <algorithm>
#include <utility>

namespace dist::test {

void FakeMark::reach() {
  const std::scoped_lock lock(mutex_);
  reached_ = true;
  changed_.notify_all();
}

void FakeMark::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_; });
}

bool FakeMark::is_reached() {
  const std::scoped_lock lock(mutex_);
  return reached_;
}

FakeStream::FakeStream(std::chrono::microseconds longest_rest, std::uint64_t seed)
    : longest_rest_(longest_rest), random_(seed), thread_([this] { run(); }) {}

FakeStream::~FakeStream() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    held_ = false;
  }
  changed_.notify_all();
  thread_.join();
}

void FakeStream::enqueue(std::function<void()> work) { enqueue(Piece{std::move(work), nullptr}); }

void FakeStream::enqueue(Piece piece) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(piece));
  }
  changed_.notify_all();
}

std::shared_ptr<FakeMark> FakeStream::mark() {
  auto mark = std::make_shared<FakeMark>();
  enqueue(Piece{[] {}, mark});
  return mark;
}

void FakeStream::hold(bool held) {
  {
    const std::scoped_lock lock(mutex_);
    held_ = held;
  }
  changed_.notify_all();
}

std::size_t FakeStream::backlog() {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

bool FakeStream::is_idle() {
  const std::scoped_lock lock(mutex_);
  return std::ranges::all_of(queue_, [](const Piece& piece) { return piece.then != nullptr; });
}

// The work in progress stays at the front of the queue until it is done, so that backlog() counts it.
void FakeStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !held_ && (ending_ || !queue_.empty()); });
    if (queue_.empty()) return;
    const Piece piece = queue_.front();
    lock.unlock();
    if (longest_rest_.count() > 0)
      std::this_thread::sleep_for(longest_rest_ * static_cast<long>(random_() % 1024) / 1024);
    piece.work();
    lock.lock();
    queue_.pop_front();
    if (!piece.then) continue;
    lock.unlock();
    piece.then->reach();
    lock.lock();
  }
}

}  // namespace dist::test
