// Inspector: what an observer of one rank's calls reports to: the simulation of this process, or that at the
// other end of a socket.
#pragma once

#include <cstdint>
#include <utility>

#include "dist/check/finding.h"
#include "dist/core/call_site.h"
#include "dist/group/fingerprint.h"
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

// How sure a finding has to be.
enum class Telling : std::uint8_t {
  always,         // once each
  together,       // findings that say the same of several ranks become one
  unless_failed,  // what may follow from a failure, or from something else that was found, is not told
};

class Inspector {
 public:
  virtual ~Inspector() = default;
  virtual bool checks() const = 0;  // for findings
  virtual bool traces() const = 0;
  // The ranks of a group make the same calls in the same order.
  virtual void compare_collective(int rank, const Attendance& call) = 0;
  // What findings call the groups of this context number: "group 1".
  virtual void name_group(std::uint32_t /*context*/, const std::string& /*name*/) {}
  virtual void note(check::Finding finding, Telling telling = Telling::always) = 0;
  // Whether the network works on copies this time, and the user's tensors are closed meanwhile.
  virtual bool lends_tensors() = 0;
  virtual AccessGuard& guard() = 0;  // of this process
  // For the trace.
  virtual void call_begins(int rank, const trace::Call& call) = 0;
  virtual void call_ends(int rank, std::uint64_t record, trace::Ending ending) = 0;
};

}  // namespace dist::sim
