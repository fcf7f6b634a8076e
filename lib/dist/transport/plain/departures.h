// Departures: which ranks are gone. They died or gave up, or they left in order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dist/transport/op.h"
#include "dist/transport/plain/peer.h"

namespace dist::net::plain {

// Used under the rank's lock.
class Departures {
 public:
  explicit Departures(Peers& peers) : peers_(peers) {}
  // To act on the news that a rank is gone, or gave up something, once all sockets have been read until they
  // are empty: by then everything that was sent before has arrived. What rank 2 gave up because rank 3 died
  // fails because of that death, whichever socket is read first.
  void later(std::function<void()> act) { reports_.push_back(std::move(act)); }
  void act_on_reports();

  // These return false if the rank was gone already. The other ranks get the news of a death before they can
  // see this rank end because of it, and so name the rank where it began.
  bool note_left(int rank);
  bool note_failed(int rank, const std::string& how);
  void note_departure(int rank);  // another rank says that it has left

  bool has_failures() const { return !failures_.empty(); }
  Failure failure_of(const Op& op) const;  // by the first member that died or gave up; empty: none did
  Failure failure_by(int rank, const Op& op) const;  // by this one; also names the first of all failures
  // For a message that needs a rank which has left. That is not a failure until then; the news is passed on
  // first.
  Failure left(const TransferFacts& message);

 private:
  void pass_on();

  Peers& peers_;
  std::vector<int> failures_, departures_;  // ranks that died or gave up; that left in order
  std::size_t passed_on_ = 0;               // departures that the others have been notified of
  std::vector<std::function<void()>> reports_;
};

}  // namespace dist::net::plain
