// A stream of the fake device: a thread that does what it is told in order, while the caller goes on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace dist::test {

// What an event was last recorded as. Shared by the event, the stream that reaches it and those that wait.
class FakeMark {
 public:
  void reach();
  void wait();
  bool is_reached();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
};

class FakeStream {
 public:
  // Before each piece of work the thread may rest up to this long, as the seed decides.
  FakeStream(std::chrono::microseconds longest_rest, std::uint64_t seed);
  ~FakeStream();  // after all its work
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;

  void enqueue(std::function<void()> work);
  std::shared_ptr<FakeMark> mark();  // of the work enqueued so far
  void hold(bool held);              // held, it does nothing; work piles up
  std::size_t backlog();             // pieces of work not finished
  bool is_idle();                    // no piece is left but marks

 private:
  struct Piece {
    std::function<void()> work;
    std::shared_ptr<FakeMark> then;  // reached when the piece is no longer part of the backlog; may be null
  };
  void enqueue(Piece piece);
  void run();

  const std::chrono::microseconds longest_rest_;
  std::mt19937_64 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> queue_;
  bool held_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace dist::test
