// Fiber: a function with a stack of its own, run in slices on the caller's thread. Boost.Context switches the
// stacks; AddressSanitizer is told of every switch, so that its view of the stack stays right.
// ThreadSanitizer is not: to it, a fiber is the thread that runs it. What fibers of one thread do is in
// order, and a fiber of its own costs it, at each switch, a time that grows with the number of fibers (ten
// times as long for a kernel's few hundred). The stack of a report may show another fiber's callers.
#pragma once

#include <cstddef>
#include <functional>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

namespace dist::test {

// Not thread-safe, not movable: `body` may hold a pointer to it. A fiber must run to its end before it is
// destroyed.
class Fiber {
 public:
  Fiber(std::size_t stack_bytes, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs `body` until it suspends or ends. Called from outside the fiber. `body` must not throw.
  void resume();
  // Gives control back to whoever called resume(). Called from inside the fiber, never from a catch block:
  // the exception being handled belongs to the thread, not to the fiber.
  void suspend();
  bool is_done() const { return done_; }

 private:
  boost::context::protected_fixedsize_stack allocator_;  // a guard page below: an overflow faults at once
  boost::context::stack_context stack_;
  std::function<void()> body_;
  boost::context::fiber inside_, outside_;
  bool done_ = false;
  void* inside_mark_ = nullptr;  // what AddressSanitizer remembers of each side
  void* outside_mark_ = nullptr;
  const void* outside_bottom_ = nullptr;
  std::size_t outside_size_ = 0;
};

}  // namespace dist::test
