#include "dist/group/diagnosis/stall_look.h"

#include <algorithm>
#include <system_error>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/group/diagnosis/hang_report.h"

namespace dist {

StallLook::StallLook(std::shared_ptr<const FlightLog> log, Watchdog& watchdog, Timeout after,
                     std::function<void(const check::Finding&)> found)
    : log_(std::move(log)), watchdog_(watchdog), after_(after), found_(std::move(found)) {
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error& error) {
    fail(Errc::resource, "rank {}: no thread could be started to look for deadlocks: {}", log_->rank,
         error.what());
  }
}

StallLook::~StallLook() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void StallLook::loop() {
  set_current_rank_label(log_->rank);
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, after_ / 8, [this] { return stop_; })) {
    lock.unlock();
    if (const auto finding = look()) return found_(*finding);
    lock.lock();
  }
}

std::optional<check::Finding> StallLook::look() {
  constexpr Timeout patience = std::chrono::seconds(1);
  const Snapshot mine = take_snapshot(*log_);
  const auto stands = std::ranges::find_if(mine.calls, [&](const SnapshotCall& call) {
    return call.is_open() && call.blocks && call.age >= after_;
  });
  if (stands == mine.calls.end() || !next_.passed()) return std::nullopt;
  next_ = Deadline::after(after_);
  const auto entry = log_->recorder.find(stands->record);
  if (!entry) return std::nullopt;
  const auto answer = watchdog_.ask(entry->issued, patience);
  if (answer.snapshots.empty()) return std::nullopt;
  return explain_stall(
      {answer.snapshots, log_->rank, stands->record, answer.settled(log_->rank, stands->record)});
}

}  // namespace dist
