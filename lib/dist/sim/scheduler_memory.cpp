// Scheduler: the ranks' memory, their tensors', their stacks' and what they share.
#include "dist/sim/end_process.h"
#include "dist/sim/globals.h"
#include "dist/sim/scheduler.h"
#include "dist/sim/tracer.h"

namespace dist::sim {

void Scheduler::memory(std::ptrdiff_t change) {
  if (listener_) listener_->memory(running_->rank, change);
}

void* Scheduler::allocate(std::size_t bytes) {
  memory(static_cast<std::ptrdiff_t>(bytes));
  void* fresh = nullptr;
  try {
    fresh = guard_.allocate(bytes);
  } catch (...) {
    memory(-static_cast<std::ptrdiff_t>(bytes));
    throw;
  }
  if (tracer_) tracer_->allocated(running_->rank, fresh, bytes);
  return fresh;
}

void Scheduler::deallocate(void* memory_, std::size_t bytes) noexcept {
  memory(-static_cast<std::ptrdiff_t>(bytes));
  guard_.deallocate(memory_);
}

void Scheduler::look_at_globals() {
  if (running_ == &tasks_.back())
    globals_->refresh();
  else
    globals_->look(running_->rank);
}

bool Scheduler::fault(const void* address) noexcept {
  if (guard_.touched(address)) return true;
  const bool overflowed = running_->worker ? static_cast<Worker*>(running_)->stack.overflowed(address) >= 0
                                           : stacks_.overflowed(address) >= 0;
  if (overflowed) stack_is_used_up();
  return false;
}

void Scheduler::stack_is_used_up() const {
  end_process(
      "rank {} has used up its stack of {} KiB: recursion without end, or large local arrays; a simulated "
      "rank gets more by RunOptions::stack_bytes",
      running_->rank, stack_bytes_ / 1024);
}

}  // namespace dist::sim
