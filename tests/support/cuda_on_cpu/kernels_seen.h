// Which kernels were loaded and which were launched. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <set>

namespace dist::test {

class KernelsSeen {
 public:
  void loaded(const void* kernel) {
    const std::scoped_lock lock(mutex_);
    loaded_.insert(kernel);
  }
  void launched(const void* kernel) {
    const std::scoped_lock lock(mutex_);
    launched_.insert(kernel);
  }
  std::size_t launched() const {
    const std::scoped_lock lock(mutex_);
    return launched_.size();
  }
  bool all_were_loaded() const {
    const std::scoped_lock lock(mutex_);
    return std::ranges::includes(loaded_, launched_);
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    loaded_.clear();
    launched_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::set<const void*> loaded_, launched_;
};

inline KernelsSeen& kernels_seen() {
  static KernelsSeen seen;
  return seen;
}

}  // namespace dist::test
