// Connections: one rank's links to its peers. They take in what has arrived, send what found no room before,
// and sleep until a peer rings this rank's doorbell or a descriptor has something. Used under the rank's
// lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/transport/engine/leader_lock.h"
#include "dist/transport/engine/poller.h"
#include "dist/transport/link/link.h"
#include "dist/transport/link/shared_segment.h"

namespace dist::net {

class Connections {
 public:
  // `own`: this rank's segment. `has_cores`: every rank of this host has a core of its own.
  Connections(int rank, int world_size, std::shared_ptr<SharedSegment> own, bool has_cores,
              LinkEvents& events);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void add(std::unique_ptr<Link> link);
  Link& to(int peer) const { return *links_[static_cast<std::size_t>(peer)]; }
  SharedSegment& own_segment() const { return *own_; }
  bool has_cores() const { return has_cores_; }
  int poll_fd() const { return poller_.fd(); }

  // These take in what has arrived, a bounded amount, because messages may never stop coming. True: something
  // had. A link that is found closed is reported by LinkEvents::on_lost().
  bool poll();
  void poll_all();              // until nothing is left of what was sent before
  bool wait(int milliseconds);  // waits for so long at most, and keeps the lock

  // Links with something to send.
  bool flush() { return !backlog_.empty() && flush_backlog(); }  // true: something was sent
  void on_backlog(Link& link);
  bool has_backlog() const { return !backlog_.empty(); }
  bool has_socket_backlog() const;

  // Sleeps without the lock. `must_stay_awake` is called last, when the peers already know that this rank
  // sleeps; it calls look_before_sleep(). Returns whether something arrived.
  bool sleep(LeaderLock& leader_lock, Lock& lock, Deadline deadline,
             const std::function<bool()>& must_stay_awake);
  // Polls once more, and reports to the peers all that was read. True: do not sleep.
  bool look_before_sleep();
  bool is_asleep() const { return asleep_; }
  void wake_sleeper() {
    if (asleep_) own_->ring_bell();
  }

  // Sends the frame and this text to all ranks that are connected, except this one and `but`.
  void tell_others(Frame frame, const std::string& text, int but = -1);
  void close_all(bool in_order);  // `in_order`: nothing that this rank had to send is left

 private:
  bool take_in(std::span<const Poller::Event> events);
  bool flush_backlog();
  void on_hang_up(Link& link);
  void close(Link& link);
  void close_silent();
  void make_way();

  const int rank_;
  const bool has_cores_;
  const std::shared_ptr<SharedSegment> own_;
  LinkEvents& events_;
  Poller poller_;
  std::vector<std::unique_ptr<Link>> links_;  // by rank
  std::vector<Link*> rings_;                  // those that must be polled
  std::vector<Link*> backlog_;                // those with something to flush
  int sockets_ = 0;                           // the number of links whose frames come by a descriptor
  std::uint32_t polls_ = 0;
  bool asleep_ = false;  // a thread is in the kernel
};

}  // namespace dist::net
