// Findings: what is wrong with a program, in words. Each kind has a stable code and a page in the handbook
// (labs/handbook).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/call_site.h"

namespace dist::check {

enum class Code : std::uint8_t {
  deadlock = 1,           // D1
  mismatched_collective,  // D2
  misfit_message,         // D3: size or dtype
  read_before_wait,       // D4: a receive's buffer
  changed_before_wait,    // D5: a send's buffer
  never_waited,           // D6: a Work
  never_received,         // D7: a message
  overlap,                // D8: two operations in flight on overlapping memory, at least one writing
  wrong_group,            // D9: a non-member, or groups made in different orders
  wrong_device,           // D10
  partial_sum,            // D11: used as if it were whole
  unreduced_gradient,     // D12: of a parameter that every rank has
  different_replicas,     // D13: initial weights, or inputs
};

std::string str(Code code);         // "D1"
std::string_view title(Code code);  // "deadlock"

// One rank's part in a finding.
struct Party {
  int rank;
  std::string doing;  // "send #0 (4 f32)"
  CallSite where;
  std::vector<int> waits_for;  // ranks; for a deadlock
  std::uint64_t tag = 0;       // for a message
  std::string group = {};      // for a message: "group 1"; empty: the default group
  bool operator==(const Party&) const = default;
};

struct Finding {
  Code code;
  std::string what;  // one line: what happened
  std::vector<Party> parties;
  std::string fix = {};  // how to fix it; empty: as its code says

  // Code and title, what happened, one line per party (equal ones together), the cycle of a deadlock as a
  // drawing, and how to fix it.
  std::string text() const;
  std::string line() const;  // the same on one line, for errors and logs
  std::string_view remedy() const;
};

// The part of an error's text before the line() of a finding that was added to it; the whole text if there is
// none.
std::string_view without_finding(std::string_view text);

// The ranks of a cycle among those that wait, in the order of the cycle; empty if there is none.
std::vector<int> find_cycle(const std::vector<Party>& waiting);

// Explains ranks that can never continue; those in `ended` have ended.
Finding explain_deadlock(std::vector<Party> waiting, const std::vector<int>& ended);

// Explains ranks that are in different calls at the same place: D2, or D3 if only sizes or dtypes differ.
// Quotes the first rank and the first one that differs from it.
Finding explain_difference(Code code, std::vector<Party> parties);

// A message and the receive that it matched.
struct Misfit {
  Party sender, receiver;
  std::uint64_t sent, expected;  // bytes
};
Finding explain_misfit(Misfit misfit);

// "send (16 bytes to rank 1)"; a negative peer is any rank: "recv (20 bytes from any rank)".
std::string describe_message(std::string_view name, bool is_send, std::uint64_t bytes, int peer);

}  // namespace dist::check
