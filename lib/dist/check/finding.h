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
  never_waited,           // D6: Work
  never_received,         // D7: a message
  overlap,                // D8: two operations in flight on overlapping memory, at least one writing
  wrong_group,            // D9: a non-member, or groups made in different orders
  wrong_device,           // D10
};

std::string str(Code code);         // "D1"
std::string_view title(Code code);  // "deadlock"

// One rank's part in it.
struct Party {
  int rank;
  std::string doing;  // "send #0 (4 f32)"
  CallSite where;
  std::vector<int> waits_for;  // ranks; of a deadlock
  std::uint64_t tag = 0;       // of a message
  std::string group = {};      // of a message: "group 1"; empty: the default group
  bool operator==(const Party&) const = default;
};

struct Finding {
  Code code;
  std::string what;  // one line: what happened
  std::vector<Party> parties;

  // Code and title, what happened, a line a party (equal ones together), for a deadlock the cycle drawn, and
  // how it is mended.
  std::string text() const;
  std::string line() const;  // the same in one line, for errors and logs
  std::string_view how_to_mend() const;
};

// The part of an error's text before a finding's line() that was added to it; all of it when there is none.
std::string_view without_finding(std::string_view text);

// The ranks of a cycle among those that wait, in its order; empty when there is none.
std::vector<int> find_cycle(const std::vector<Party>& waiting);

// Of ranks that can never go on.
Finding explain_deadlock(std::vector<Party> waiting, const std::vector<int>& ended);

// Of ranks that are in different calls at the same place: D2, or D3 when only the sizes or dtypes differ.
// Quotes the first rank and the first that differs from it.
Finding explain_difference(Code code, std::vector<Party> parties);

// Of a message and the receive it met.
struct Misfit {
  Party sender, receiver;
  std::uint64_t sent, expected;  // bytes
};
Finding explain_misfit(Misfit misfit);

// "send (16 bytes to rank 1)", "recv (20 bytes from any rank)" for a negative peer.
std::string describe_message(std::string_view name, bool is_send, std::uint64_t bytes, int peer);

}  // namespace dist::check
