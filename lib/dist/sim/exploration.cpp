// Scheduler: schedules other than the ordinary one.
#include <algorithm>

#include "dist/sim/scheduler.h"

namespace dist::sim {

void Scheduler::set_choices(Choices* choices) {
  choices_ = choices;
  network_.hold_any_source();
}

// No rank can continue otherwise, so every message that could be received has been sent.
bool Scheduler::match_any_source(RequestId only) {
  const Time now = std::max(ready_.now(), only == no_request ? Time{0} : running_->clock);
  return network_.match_any_source(
      now, [&](int senders) { return choices_->choose(ChoicePoint::any_sender, senders); }, only);
}

// Whether is_completed() answers "not yet" although the request is complete; it may answer so at most twice.
bool Scheduler::puts_off(RequestId id) {
  constexpr int most = 2;
  const NetRequest& request = network_[id];
  while (!request.known && !request.is_send && request.peer == any_source && match_any_source(id)) {
  }
  // A rank that polls keeps the queue from becoming empty, and thereby the others' receives from being
  // matched.
  if (!request.known && ++idle_polls_ > 2 * network_.ranks()) {
    idle_polls_ = 0;
    match_any_source();
  }
  if (!request.known || request.at > running_->clock) return false;
  if (put_off_[id] < most && choices_->choose(ChoicePoint::is_completed, 2) == 1) {
    ++put_off_[id];
    return true;
  }
  put_off_.erase(id);
  return false;
}

void Scheduler::at_store() {
  constexpr Time until_all_others_came = 1'000'000'000;  // ps
  compute(poll_cost);
  if (choices_ && choices_->choose(ChoicePoint::store, 2) == 1) compute(until_all_others_came);
}

}  // namespace dist::sim
