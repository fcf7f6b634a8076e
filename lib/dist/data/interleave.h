// Interleaving: several generators, each in a thread of its own, read in turn. The order of the results
// depends on the number of generators alone, never on which thread is faster: that keeps a loader with
// workers deterministic.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/data/dataset.h"

namespace dist::data {

template <class T>
class Interleaved {
 public:
  // Starts the threads; each keeps up to `ahead` items ready, at least 1. Throws Error{resource} when the
  // system has no more threads.
  Interleaved(std::vector<Generator<T>> generators, std::size_t ahead)
      : ahead_(ahead), lanes_(generators.size()) {
    try {
      for (std::size_t i = 0; i < lanes_.size(); ++i)
        lanes_[i].worker =
            Worker([this, &lane = lanes_[i], next = std::move(generators[i])] { fill(lane, next); });
    } catch (const std::system_error& error) {
      join();
      fail(Errc::resource, "no thread for a loader's worker: {}; take fewer workers", error.what());
    } catch (...) {  // a simulator has limits of its own
      join();
      throw;
    }
  }
  Interleaved(const Interleaved&) = delete;
  Interleaved& operator=(const Interleaved&) = delete;
  // Returns when every generator has returned from its current call.
  ~Interleaved() { join(); }

  // Returns items from the generators in turn, skipping those that have ended. An exception of a generator is
  // rethrown here in its turn, and ends everything.
  std::optional<T> next() {
    std::unique_lock lock(mutex_);
    for (std::size_t ended = 0; ended < lanes_.size() && !stopped_;
         ++ended, turn_ = (turn_ + 1) % lanes_.size()) {
      Lane& lane = lanes_[turn_];
      changed_.wait(lock, [&] { return !lane.items.empty() || lane.ended; });
      if (!lane.items.empty()) {
        std::optional<T> item = std::move(lane.items.front());
        lane.items.pop_front();
        turn_ = (turn_ + 1) % lanes_.size();
        changed_.notify_all();
        return item;
      }
      if (lane.error) {
        lock.unlock();
        stop();
        std::rethrow_exception(lane.error);
      }
    }
    return std::nullopt;
  }

 private:
  struct Lane {
    std::deque<T> items;
    bool ended = false;
    std::exception_ptr error;  // why it has ended
    Worker worker;
  };

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  void join() {
    stop();
    for (auto& lane : lanes_) {
      if (lane.worker.joinable()) lane.worker.join();
    }
  }

  void fill(Lane& lane, const Generator<T>& generate) {
    std::unique_lock lock(mutex_);
    while (!stopped_ && !lane.ended) {
      if (lane.items.size() >= ahead_) {
        changed_.wait(lock);
        continue;
      }
      lock.unlock();
      std::optional<T> item;
      std::exception_ptr error;
      try {
        item = generate();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      const bool more = !error && item;  // GCC 12 leaves the previous item in `item` when the call throws
      if (more) lane.items.push_back(std::move(*item));
      lane.ended = !more;
      lane.error = error;
      changed_.notify_all();
    }
  }

  const std::size_t ahead_;
  std::mutex mutex_;  // guards all that follows except the workers
  Condition changed_;
  bool stopped_ = false;
  std::size_t turn_ = 0;
  std::vector<Lane> lanes_;
};

// The items of all generators in turn, as one generator.
template <class T>
Generator<T> interleave(std::vector<Generator<T>> generators, std::size_t ahead) {
  auto all = std::make_shared<Interleaved<T>>(std::move(generators), ahead);
  return [all = std::move(all)] { return all->next(); };
}

}  // namespace dist::data
