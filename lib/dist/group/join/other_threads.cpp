// What a rank that leaves does about its other threads: it waits for those that are in calls, and keeps
// forever what they use when they stay.
#include <algorithm>
#include <mutex>
#include <thread>

#include "dist/group/job_state.h"

namespace dist {
namespace {

template <class Condition>
bool comes_true(const Condition& condition, Deadline deadline) {
  constexpr Timeout between_looks = std::chrono::milliseconds(1);
  for (; !condition(); std::this_thread::sleep_for(between_looks))
    if (deadline.passed()) return false;
  return true;
}

}  // namespace

void keep_for_ever(std::shared_ptr<void> thing) {
  static auto& kept = *new std::pair<std::mutex, std::vector<std::shared_ptr<void>>>;
  const std::lock_guard lock(kept.first);
  kept.second.push_back(std::move(thing));
}

bool JobState::no_thread_stays(Timeout patience, const std::function<bool(const FlightRecord&)>& in) {
  if (context.virtual_world) return true;  // a simulated rank has none
  const auto stays = [&] { return std::ranges::any_of(log->recorder.stood_in(), in); };
  if (!stays()) return true;
  others_stood_ = true;
  return comes_true([&] { return !stays(); }, Deadline::after(patience));
}

// Whether all calls that passed the gates have ended.
bool JobState::are_empty(const std::vector<Gate*>& gates, Deadline deadline) const {
  return context.virtual_world ||
         comes_true([&] { return std::ranges::all_of(gates, &Gate::is_empty); }, deadline);
}

void JobState::note_who_stands() {
  if (log && !context.virtual_world && !log->recorder.stood_in().empty()) others_stood_ = true;
}

}  // namespace dist
