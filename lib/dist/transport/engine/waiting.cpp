// await() makes one thread the leader; lead() polls for a short time (advance), then sleeps until a bell
// rings or a connection has something. look_before_sleep() makes sure that nothing is left to do when it
// sleeps.
#include "dist/transport/engine/waiting.h"

#include <algorithm>
#include <atomic>

#include "dist/transport/engine/copies.h"
#include "dist/transport/engine/peers.h"

namespace dist::net {
namespace {

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{0};
  return ++serial;
}

// Registers a predicate that the leader polls, under the lock, for as long as this object lives.
class Watched {
 public:
  using List = std::vector<const std::function<bool()>*>;
  Watched(List& list, const std::function<bool()>& arrived) : list_(list), arrived_(&arrived) {
    list_.push_back(arrived_);
  }
  ~Watched() { std::erase(list_, arrived_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  List& list_;
  const std::function<bool()>* arrived_;
};

}  // namespace

Waiting::Waiting(std::chrono::microseconds spin, Connections& connections, Peers& peers, Copies& copies)
    : connections_(connections), peers_(peers), copies_(copies), spin_(spin), serial_(next_serial()) {}

bool Waiting::await(Lock& lock, const std::function<bool()>& done, Deadline deadline) {
  return leader_lock_.await(lock, done, deadline,
                            [this](Lock& l, const auto& d, Deadline until) { return lead(l, d, until); });
}

bool Waiting::await_memory(Lock& lock, const std::function<bool()>& arrived,
                           const std::function<bool()>& done, Deadline deadline) {
  const Watched watched(watched_, arrived);
  return await(lock, done, deadline);
}

bool Waiting::lead(Lock& lock, const std::function<bool()>& done, Deadline deadline) {
  spin_.restart();
  for (;;) {
    if (advance(lock)) spin_.found();
    leader_lock_.let_others_in(lock);
    if (done()) {  // asked last: a thread that was let in may have done it, without a bell
      spin_.found();
      return true;
    }
    if (!spin_.is_over()) {
      relax_cpu();
      continue;
    }
    if (deadline.passed()) return false;
    if (connections_.sleep(leader_lock_, lock, deadline, [this] { return look_before_sleep(); }))
      spin_.found();
    spin_.restart();
  }
}

bool Waiting::advance(Lock& lock) {
  bool moved = connections_.poll();
  peers_.settle_reports();
  moved |= connections_.flush();
  if (copies_.is_due()) {
    copies_.run(lock);
    moved = true;
  }
  if (memory_has_arrived()) note_activity();
  return moved;
}

bool Waiting::memory_has_arrived() const {
  return std::ranges::any_of(watched_, [](const auto* arrived) { return (*arrived)(); });
}

bool Waiting::look_before_sleep() {
  bool stay_awake = copies_.is_due() || memory_has_arrived();
  stay_awake |= connections_.look_before_sleep();
  peers_.settle_reports();
  return stay_awake;
}

// The conditions under which the leader fell asleep must stay true: the peers know all that was read, and
// nothing is left to do.
void Waiting::look_around(Lock& lock) {
  advance(lock);
  if (connections_.is_asleep() && look_before_sleep()) connections_.wake_sleeper();
  leader_lock_.let_others_in(lock);
}

// Another leader polls itself.
bool Waiting::look_for(Lock& lock, const Transfer& t) {
  constexpr int looks = 200;
  const bool may_look = connections_.has_cores() && !is_led();
  for (int i = 0; may_look && i < looks; ++i) {
    advance(lock);
    if (t.is_settled()) return true;
  }
  return false;
}

void Waiting::await_activity(Lock& lock, Timeout patience) {
  // What this thread last saw of this object; a stale value only makes it return early once.
  thread_local struct { std::uint64_t serial = 0, activity = 0; } seen;
  if (patience <= Timeout::zero())
    look_around(lock);
  else if (seen.serial == serial_)
    await(
        lock, [&] { return activity_ != seen.activity; }, Deadline::after(patience));
  seen = {serial_, activity_};
}

void Waiting::take_in(int milliseconds) {
  connections_.wait(milliseconds);
  peers_.settle_reports();
}

}  // namespace dist::net
