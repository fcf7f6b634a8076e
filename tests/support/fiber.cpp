#include "support/fiber.h"

#include <utility>

#include "dist/core/sanitizer.h"

#if defined(DIST_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace dist::test {

namespace {

// AddressSanitizer: `left` is the side that is left (null: for good); [bottom, bottom + size) the stack
// entered. The calls do nothing in other builds.
void about_to_switch([[maybe_unused]] void** left, [[maybe_unused]] const void* bottom,
                     [[maybe_unused]] std::size_t size) {
#if defined(DIST_ASAN)
  __sanitizer_start_switch_fiber(left, bottom, size);
#endif
}

void has_switched([[maybe_unused]] void* mark, [[maybe_unused]] const void** bottom,
                  [[maybe_unused]] std::size_t* size) {
#if defined(DIST_ASAN)
  __sanitizer_finish_switch_fiber(mark, bottom, size);
#endif
}

}  // namespace

Fiber::Fiber(std::size_t stack_bytes, std::function<void()> body)
    : allocator_(stack_bytes), stack_(allocator_.allocate()), body_(std::move(body)) {
  // Another stack may have used this memory: a fiber that ends never leaves its first frames, and they stay
  // poisoned.
  unpoison(static_cast<const std::byte*>(stack_.sp) - stack_.size, stack_.size);
  auto entry = [this](boost::context::fiber&& caller) {
    has_switched(nullptr, &outside_bottom_, &outside_size_);
    outside_ = std::move(caller);
    body_();
    done_ = true;
    about_to_switch(nullptr, outside_bottom_, outside_size_);
    return std::move(outside_);
  };
  const boost::context::preallocated memory(stack_.sp, stack_.size, stack_);
  inside_ = boost::context::fiber(std::allocator_arg, memory, allocator_, std::move(entry));
}

void Fiber::resume() {
  const auto* bottom = static_cast<const std::byte*>(stack_.sp) - stack_.size;
  about_to_switch(&outside_mark_, bottom, stack_.size);
  inside_ = std::move(inside_).resume();
  has_switched(outside_mark_, nullptr, nullptr);
  // The stack is unmapped. A fiber that ends never leaves its first frames: what comes there next is not
  // poisoned.
  if (done_) unpoison(bottom, stack_.size);
}

void Fiber::suspend() {
  about_to_switch(&inside_mark_, outside_bottom_, outside_size_);
  outside_ = std::move(outside_).resume();
  has_switched(inside_mark_, &outside_bottom_, &outside_size_);
}

}  // namespace dist::test
