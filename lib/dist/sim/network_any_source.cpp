// Network: receives from any source that are held until exploration chooses their senders.
#include <algorithm>
#include <utility>

#include "dist/sim/network.h"

namespace dist::sim {

bool Network::is_held(const Ports& here, const NetRequest& recv) const {
  if (!holds_any_source_) return false;
  if (recv.peer == any_source) return true;
  for (RequestId id = here.receives.head; id != no_request; id = requests_[id].next) {
    const NetRequest& before = requests_[id];
    if (&before == &recv) return false;
    if (before.peer == any_source && before.context == recv.context && before.tag == recv.tag) return true;
  }
  return false;
}

// Whether messages for `other` may match `recv`; if it was posted earlier, it is `recv`'s turn.
bool Network::competes(RequestId recv, RequestId other) const {
  const NetRequest &a = requests_[recv], &b = requests_[other];
  return a.owner == b.owner && a.context == b.context && a.tag == b.tag;
}

bool Network::match_any_source(Time now, const std::function<int(int)>& choose, RequestId only) {
  for (Ports& here : ports_) {
    for (RequestId recv = here.receives.head; recv != no_request; recv = requests_[recv].next) {
      if (requests_[recv].peer != any_source || (only != no_request && !competes(recv, only))) continue;
      std::vector<RequestId> first;  // each sender's first message
      for (RequestId send = here.sends.head; send != no_request; send = requests_[send].next) {
        const bool is_first = std::ranges::none_of(
            first, [&](RequestId other) { return requests_[other].owner == requests_[send].owner; });
        if (is_first && belong_together(requests_[send], requests_[recv])) first.push_back(send);
      }
      if (first.empty()) continue;
      const auto choice = static_cast<std::size_t>(choose(static_cast<int>(first.size())));
      if (choice >= first.size()) return false;
      take_recv(here, [&](const NetRequest& r) { return &r == &requests_[recv]; });
      take(here.sends, [&](const NetRequest& r) { return &r == &requests_[first[choice]]; });
      match(first[choice], recv, std::max(now, requests_[recv].at));
      settle(here, now);
      return true;
    }
  }
  return false;
}

void Network::settle(Ports& here, Time now) {
  for (RequestId recv = here.receives.head; recv != no_request;) {
    const RequestId id = std::exchange(recv, requests_[recv].next);
    if (is_held(here, requests_[id])) continue;
    const RequestId send =
        take(here.sends, [&](const NetRequest& posted) { return belong_together(posted, requests_[id]); });
    if (send == no_request && !matches_nobody(requests_[id])) continue;
    take_recv(here, [&](const NetRequest& r) { return &r == &requests_[id]; });
    if (send != no_request)
      match(send, id, now);
    else
      complete(id, now);
  }
}

}  // namespace dist::sim
