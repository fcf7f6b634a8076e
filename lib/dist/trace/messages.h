// Messages: the two ends of each, matched by number.
#pragma once

#include <vector>

#include "dist/trace/event.h"

namespace dist::trace {

struct Message {
  const Event* send = nullptr;     // null: only its receive is in the trace
  const Event* receive = nullptr;  // null: it was never received

  int source() const { return send ? send->rank : receive->peer; }
  int destination() const { return send ? send->peer : receive->rank; }
  const Event& known_end() const { return send ? *send : *receive; }
  // From the end that knows it; 0 and -1 if neither does.
  std::uint64_t contributors() const;
  std::int64_t offset() const;
};

// All messages of the trace, which must outlive them: first those with a send, in the order of their sends,
// then those with only a receive. If several events have one number, the first send belongs to the first
// receive, and so on; number 0 has no other end.
std::vector<Message> messages(const Trace& trace);

}  // namespace dist::trace
