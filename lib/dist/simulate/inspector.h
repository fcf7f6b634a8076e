// Inspector: where an observer of one rank's calls reports: the simulation in this process, or the one at the
// other end of a socket.
#pragma once

#include <cstdint>
#include <utility>

#include "dist/check/copies.h"
#include "dist/check/finding.h"
#include "dist/core/call_site.h"
#include "dist/group/diagnosis/fingerprint.h"
#include "dist/sim/access_guard.h"
#include "dist/trace/call.h"

namespace dist::sim {

// One rank's part in a collective.
struct Attendance {
  std::pair<std::uint32_t, int> group;  // GroupState::key()
  int group_size = 1;
  Fingerprint fingerprint;
  CallSite where;
};

// What one rank has of something that should be equal in its whole group.
struct GroupCopies {
  std::pair<std::uint32_t, int> group;  // GroupState::key()
  int group_size = 1;
  check::Copies copies;
};

// How certain a finding has to be.
enum class Telling : std::uint8_t {
  always,    // once each
  together,  // equal findings on several ranks become one
  // Findings that may follow from a failure, or from something else that was found, are dropped.
  unless_failed,
};

class Inspector {
 public:
  virtual ~Inspector() = default;
  virtual bool checks() const = 0;  // for findings
  virtual bool traces() const = 0;
  // Checks that the ranks of a group make the same calls in the same order.
  virtual void compare_collective(int rank, const Attendance& call) = 0;
  // Checks that copies are equal, once all ranks of the group have passed theirs.
  virtual void compare_copies(int rank, GroupCopies mine) = 0;
  // What findings call the groups with this context number: "group 1".
  virtual void name_group(std::uint32_t /*context*/, const std::string& /*name*/) {}
  virtual void note(check::Finding finding, Telling telling = Telling::always) = 0;
  // Whether the network works on copies this time, while the user's tensors are closed.
  virtual bool lends_tensors() = 0;
  virtual AccessGuard& guard() = 0;  // this process's
  // For the trace.
  virtual void call_begins(int rank, const trace::Call& call) = 0;
  virtual void call_ends(int rank, std::uint64_t record, trace::Ending ending) = 0;
};

}  // namespace dist::sim
