// Tells AddressSanitizer which fiber's stack runs. Does nothing in other builds. To ThreadSanitizer fibers
// are the thread that runs them: a context each would cost it, at each switch, a time that grows with their
// number.
#pragma once

#include <cstddef>
#include <vector>

#include "dist/core/sanitizer.h"

#if defined(DIST_ASAN)
#include <sanitizer/common_interface_defs.h>
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
#else
  explicit FiberMarks(int) {}
  int add() { return 0; }
  void has_stack(int, const void*, std::size_t) {}
  void leaving(int, int, bool) {}
  void arrived(int, int) {}
#endif
};

}  // namespace dist::sim
