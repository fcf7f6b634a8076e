// Why a group is broken: a collective has failed, perhaps while it ran, so its ranks are no longer in step.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>

#include "dist/backend/backend.h"

namespace dist {

// Thread-safe. The first reason counts.
class Breakage {
 public:
  explicit operator bool() const { return broken_.load(std::memory_order_acquire); }
  // A collective has failed with this error: later ones end with Error{aborted}.
  void set(const std::exception& error);
  // Replaces the reason `error` by `told`, which says more about the same failure.
  void explain(const std::exception& error, const std::exception& told);
  // Throws Error{aborted} if the group is broken.
  void refuse(const BackendContext& context, const Operation& operation) const {
    if (*this) fail(context, operation);
  }

 private:
  [[noreturn]] void fail(const BackendContext& context, const Operation& operation) const;

  mutable std::mutex mutex_;  // guards the next
  std::string reason_;
  std::atomic<bool> broken_{false};
};

}  // namespace dist
