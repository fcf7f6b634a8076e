// Tells the sanitizers which fiber's stack runs. Does nothing in other builds.
#pragma once

#include <cstddef>
#include <vector>

#include "dist/core/sanitizer.h"

#if defined(DIST_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(DIST_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace dist::sim {

// Fibers 0 to n-1; number n is the thread that runs them; later numbers are fibers that were added.
class FiberMarks {
 public:
#if defined(DIST_ASAN)
  explicit FiberMarks(int fibers) : marks_(static_cast<std::size_t>(fibers) + 1) {}
  int add() {
    marks_.emplace_back();
    return static_cast<int>(marks_.size()) - 1;
  }

  void has_stack(int fiber, const void* bottom, std::size_t bytes) {
    mark(fiber).bottom = bottom;
    mark(fiber).bytes = bytes;
  }
  void leaving(int from, int to, bool for_good) {
    void** kept = for_good ? nullptr : &mark(from).fake_stack;
    __sanitizer_start_switch_fiber(kept, mark(to).bottom, mark(to).bytes);
  }
  void arrived(int at, int from) {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(mark(at).fake_stack, &bottom, &bytes);
    has_stack(from, bottom, bytes);  // no other call knows the thread's stack
  }

 private:
  struct Mark {
    void* fake_stack = nullptr;
    const void* bottom = nullptr;
    std::size_t bytes = 0;
  };
  Mark& mark(int fiber) { return marks_[static_cast<std::size_t>(fiber)]; }
  std::vector<Mark> marks_;
#elif defined(DIST_TSAN)
  explicit FiberMarks(int fibers) : thread_(static_cast<std::size_t>(fibers)) {
    for (int i = 0; i < fibers; ++i) add();
    marks_.push_back(__tsan_get_current_fiber());
  }
  ~FiberMarks() {
    marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(thread_));
    for (auto* mark : marks_) __tsan_destroy_fiber(mark);
  }
  int add() {
    marks_.push_back(__tsan_create_fiber(0));
    return static_cast<int>(marks_.size()) - 1;
  }
  FiberMarks(const FiberMarks&) = delete;
  FiberMarks& operator=(const FiberMarks&) = delete;

  void has_stack(int, const void*, std::size_t) {}
  void leaving(int, int to, bool) { __tsan_switch_to_fiber(marks_[static_cast<std::size_t>(to)], 0); }
  void arrived(int, int) {}

 private:
  std::vector<void*> marks_;
  std::size_t thread_;
#else
  explicit FiberMarks(int) {}
  int add() { return 0; }
  void has_stack(int, const void*, std::size_t) {}
  void leaving(int, int, bool) {}
  void arrived(int, int) {}
#endif
};

}  // namespace dist::sim
