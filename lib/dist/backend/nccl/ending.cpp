#include "dist/backend/nccl/ending.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "dist/core/log.h"
#include "dist/core/tasking.h"

namespace dist::nccl {
namespace {

// How long the communicators of a failed group may take to end while the group's error waits to be reported.
constexpr std::chrono::milliseconds patience(1000);

}  // namespace

struct Ending::State {
  std::mutex mutex;  // guards the next
  bool over = true;
  Condition changed;
};

Ending::Ending() : state_(std::make_shared<State>()) {}

Ending::~Ending() {
  if (!is_left_ && !wait(Deadline::after(patience)))
    log(LogLevel::info, "NCCL has not ended a communicator in {} ms; it is left to itself", patience.count());
}

void Ending::begin(std::function<void()> call) noexcept {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->over = false;
  }
  auto run = [state = state_, call = std::move(call)]() mutable {
    std::exchange(call, nullptr)();  // frees what it owns before the end is reported
    const std::scoped_lock lock(state->mutex);
    state->over = true;
    state->changed.notify_all();
  };
  try {
    std::thread(run).detach();
  } catch (const std::system_error&) {
    run();  // no thread could be started
  }
}

bool Ending::wait(const Deadline& deadline) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_until(lock, deadline, [&] { return state_->over; });
}

}  // namespace dist::nccl
