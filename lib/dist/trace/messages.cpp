#include "dist/trace/messages.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace dist::trace {

std::uint64_t Message::contributors() const {
  if (send && send->contributors != 0) return send->contributors;
  return receive ? receive->contributors : 0;
}

std::int64_t Message::offset() const {
  if (send && send->offset >= 0) return send->offset;
  return receive ? receive->offset : -1;
}

std::vector<Message> messages(const Trace& trace) {
  std::unordered_map<std::uint64_t, std::deque<const Event*>> receives;
  for (const Event& event : trace.events) {
    if (event.kind == Kind::receive && event.message != 0) receives[event.message].push_back(&event);
  }
  std::vector<Message> found;
  std::unordered_set<const Event*> paired;
  for (const Event& event : trace.events) {
    if (event.kind != Kind::send) continue;
    found.push_back({&event, nullptr});
    const auto waiting = receives.find(event.message);
    if (waiting == receives.end() || waiting->second.empty()) continue;
    found.back().receive = waiting->second.front();
    waiting->second.pop_front();
    paired.insert(found.back().receive);
  }
  for (const Event& event : trace.events) {
    if (event.kind == Kind::receive && !paired.contains(&event)) found.push_back({nullptr, &event});
  }
  return found;
}

}  // namespace dist::trace
