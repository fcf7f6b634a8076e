// How a rank waits in a round where ranks share cores; and how it waits for long.
#include <algorithm>
#include <chrono>
#include <thread>

#include "dist/direct/round.h"
#include "dist/transport/engine/cores.h"
#include "dist/transport/engine/spin.h"

namespace dist {
namespace {

constexpr int looks = 100;  // polls between yields: about as long as a yield takes
constexpr int yields = 50;
constexpr std::chrono::microseconds time_slice{1000};  // a yield this long went to another program
constexpr int waits_per_slice = 8;  // a slice is forgotten after this many waits without one
constexpr int slices_in_a_crowd = 4;
constexpr int first_nap = 4, longest_nap = 200;  // slices
constexpr int naps = 4;

}  // namespace

// A yield takes microseconds, and gains nothing while the rank that is waited for runs on another core.
// While other programs compute, it gives one of them a whole time slice, milliseconds, where a rank
// that sleeps gets a core as soon as its time is up. A rank that meets such slices again and again shows it
// to all: they nap instead, twice as long each time, until trying again costs them little. (A single slice
// may have gone to a rank of the group that computes.)
bool Round::wait_on_shared_core(const std::function<bool()>& done, int rank) {
  if (done()) return true;
  auto before = std::chrono::steady_clock::now();
  if (is_crowded(before)) return nap(done);
  for (int i = 0; i < yields; ++i) {
    if (!is_in_the_way(rank) && net::look(done, looks)) return true;
    std::this_thread::yield();
    const auto after = std::chrono::steady_clock::now();
    const auto slice = after - before;
    if (slice >= time_slice) {
      met_other_program(after, slice);
      return done();
    }
    if (done()) {
      if (peers_.crowding_ > 0 && --peers_.crowding_ == 0) peers_.nap_slices_ = 0;
      return true;
    }
    before = after;
  }
  return false;
}

void Round::met_other_program(std::chrono::steady_clock::time_point now, std::chrono::nanoseconds slice) {
  constexpr int crowd = slices_in_a_crowd * waits_per_slice;
  peers_.crowding_ = std::min(peers_.crowding_ + waits_per_slice, crowd);
  if (peers_.crowding_ < crowd) return;
  peers_.crowding_ -= waits_per_slice;  // a single slice does not start the next nap
  peers_.nap_slices_ = std::clamp(2 * peers_.nap_slices_, first_nap, longest_nap);
  const auto until = now + peers_.nap_slices_ * slice;
  own_header().crowded_until.store(until.time_since_epoch().count(), std::memory_order_relaxed);
}

// The others need not ring for a rank that wakes by itself: that costs them less than ringing as many bells.
bool Round::nap(const std::function<bool()>& done) {
  for (int i = 0; i < naps; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(1));  // plus the system's slack, about 50 us
    if (done()) return true;
  }
  return false;
}

// Whether other programs took the core of a rank of the group not long ago.
bool Round::is_crowded(std::chrono::steady_clock::time_point now) const {
  for (const PeerMemory::Peer& peer : peers_.setup_.peers)
    if (peer.shared_segment->header().crowded_until.load(std::memory_order_relaxed) >
        now.time_since_epoch().count())
      return true;
  return false;
}

// Whether this rank keeps others from running: the rank that is waited for, or
// one that has not begun this round, was last seen on this rank's core.
bool Round::is_in_the_way(int rank) {
  const int core = net::show_core(own_header());
  for (int r = 0; r < size(); ++r) {
    const PeerMemory::Peer& peer = peers_.peer(r);
    if (r == peers_.rank() || net::seen_core(peer.shared_segment->header()) != core) continue;
    if (r == rank || peer.area->notice(peers_.round_).round.load(std::memory_order_relaxed) != peers_.round_)
      return true;
  }
  return false;
}

// This also ends when `rank` has given up an earlier round and is still alive: it never comes.
void Round::wait_long(const std::function<bool()>& done, int rank) {
  const int other = peers_.peer(rank).global_rank;
  SharedPeers& shared = peers_.setup_.shared;
  shared.await_memory(label_.options(), other, [&] { return done() || has_given_up(rank); });
  if (!done()) throw shared.withdrawal(label_.options(), other);
}

}  // namespace dist
