#include "dist/simulate/remote/remote_tasking.h"

#include <bit>

#include "dist/core/deadline.h"
#include "dist/core/tasking.h"
#include "dist/simulate/remote/caller.h"

namespace dist::sim {
namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

RemoteTasking::~RemoteTasking() {
  for (std::thread& task : tasks_) task.join();
}

RemoteTasking::TimePoint RemoteTasking::now() const {
  return TimePoint(Clock::duration(Question(Verb::now).ask().get<Clock::rep>()));
}

void RemoteTasking::sleep_until(TimePoint when) {
  Question(Verb::sleep_until).with(Deadline::at(when)).ask();
}

bool RemoteTasking::wait(WaitList& list, const Deadline& deadline, const WaitReason* reason) {
  Question question(Verb::wait);
  question.with(number_of(&list)).with(deadline).with(std::uint8_t{reason != nullptr});
  if (reason) question.with(reason->doing()).with(reason->where()).with(reason->waits_for());
  return question.ask().get<std::uint8_t>() != 0;
}

void RemoteTasking::notify_all(WaitList& list) { Question(Verb::notify).with(number_of(&list)).ask(); }

void RemoteTasking::charge(double seconds) {
  Question(Verb::charge).with(std::bit_cast<std::uint64_t>(seconds)).ask();
}

void RemoteTasking::start(std::function<void()> fn) {
  auto [mine, theirs] = channel_pair();
  Question(Verb::start).ask({}, theirs.get());
  tasks_.emplace_back([this, fn = std::move(fn), socket = mine.release()] {
    const TaskChannel channel{UniqueFd(socket)};
    const TaskScope scope(*this);
    try {
      Question(Verb::hello).ask();
    } catch (const Error&) {
      return;  // the simulation has ended
    }
    fn();
    try {
      Question(Verb::bye).ask();
    } catch (const Error&) {  // the same
    }
  });
}

void RemoteTasking::reduced(const void* to, const void* from, std::size_t bytes) {
  Question(Verb::reduced).with(number_of(to)).with(number_of(from)).with(std::uint64_t{bytes}).ask();
}

void RemoteTasking::copied(const void* to, const void* from, std::size_t bytes) {
  Question(Verb::copied).with(number_of(to)).with(number_of(from)).with(std::uint64_t{bytes}).ask();
}

void RemoteTasking::at_store() { Question(Verb::at_store).ask(); }

void* RemoteTasking::allocate(std::size_t bytes) {
  Question(Verb::allocate).with(std::uint64_t{bytes}).ask();
  return guard_.allocate(bytes);
}

void RemoteTasking::deallocate(void* memory, std::size_t bytes) noexcept {
  guard_.deallocate(memory, bytes);
  try {
    Question(Verb::deallocate).with(std::uint64_t{bytes}).ask();
  } catch (const std::exception&) {  // the simulation has ended: nothing is counted any more
  }
}

}  // namespace dist::sim
