// Waiting: how the threads of one rank wait. One of them leads (leader_lock.h): it polls for a short time,
// then sleeps in the kernel until a peer wakes it. Whatever ends a transfer calls note_activity(), which
// wakes the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/transport/engine/connections.h"
#include "dist/transport/engine/leader_lock.h"
#include "dist/transport/engine/spin.h"
#include "dist/transport/engine/transfer.h"

namespace dist::net {

class Copies;
class Peers;

// All but enter() are called under the rank's lock.
class Waiting {
 public:
  // `spin`: how long to poll before sleeping.
  Waiting(std::chrono::microseconds spin, Connections& connections, Peers& peers, Copies& copies);

  Lock enter() { return leader_lock_.enter(); }  // takes the rank's lock
  bool is_led() const { return leader_lock_.is_taken(); }

  // Blocks until done(), which is called under the lock; false: the deadline passed first.
  bool await(Lock& lock, const std::function<bool()>& done, Deadline deadline);
  // The same, where a peer may make `arrived` true by writing to this rank's memory.
  bool await_memory(Lock& lock, const std::function<bool()>& arrived, const std::function<bool()>& done,
                    Deadline deadline);
  // Polls while an answer may be a matter of nanoseconds; returns whether the transfer ended.
  bool look_for(Lock& lock, const Transfer& t);
  // Until the next note_activity(). For a thread that cannot lead now.
  void await_event(Lock& lock) { leader_lock_.wait_for_event(lock); }
  void await_activity(Lock& lock, Timeout patience);  // returns at once if there was some since the last call

  // One round of polling: takes in messages, acts on reports, sends what waits, copies. True: something
  // moved.
  bool advance(Lock& lock);
  // The same for a thread that does not wait.
  void look_around(Lock& lock);
  // The last round before a sleep. True: do not sleep.
  bool look_before_sleep();
  // Takes in what comes within this time, without giving up the lock.
  void take_in(int milliseconds);

  // A transfer ended, or a thread is to check again.
  void note_activity() {
    ++activity_;
    leader_lock_.wake_all();
    connections_.wake_sleeper();  // test() polls as well, and may take in what the leader sleeps for
  }

 private:
  bool lead(Lock& lock, const std::function<bool()>& done, Deadline deadline);
  bool memory_has_arrived() const;

  Connections& connections_;
  Peers& peers_;
  Copies& copies_;
  LeaderLock leader_lock_;
  Spin spin_;
  std::vector<const std::function<bool()>*> watched_;  // memory that threads of this rank wait for
  std::uint64_t activity_ = 0;                         // counts calls of note_activity()
  const std::uint64_t serial_;                         // this object's number in the process
};

}  // namespace dist::net
