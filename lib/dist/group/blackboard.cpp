#include "dist/group/blackboard.h"

#include "dist/core/fail.h"
#include "dist/core/tasking.h"

namespace dist {

// One call of one group.
struct Blackboard::Sheet : WaitReason {
  std::shared_ptr<Exchanged> exchanged = std::make_shared<Exchanged>();
  std::vector<bool> came;
  Members members;
  int expected = 0;
  std::string call;
  CallSite place;
  std::string broken;  // why it will never be complete; empty: it may be
  Condition complete;

  std::string doing() const override { return call; }
  CallSite where() const override { return place; }
  std::vector<int> waits_for() const override {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < came.size(); ++i) {
      if (!came[i]) ranks.push_back(members[static_cast<int>(i)]);
    }
    return ranks;
  }
};

std::shared_ptr<const Exchanged> Blackboard::exchange(const GroupState& group, std::uint64_t tag,
                                                      Deadline deadline, const ControlMessage& mine,
                                                      std::vector<int>& missing) {
  std::unique_lock lock(mutex_);
  for (const auto& [lost, how] : lost_)
    if (group.identity.ranks.contains(lost)) refuse(mine, group.global_rank, how);
  const Key key{group.key(), tag};
  auto& entry = sheets_[key];
  if (!entry) {
    entry = std::make_shared<Sheet>();
    entry->expected = group.size();
    entry->members = group.identity.ranks;
    entry->came.resize(static_cast<std::size_t>(group.size()));
    entry->exchanged->messages.resize(entry->came.size());
    entry->call = mine.call;
    entry->place = mine.place;
  }
  const std::shared_ptr<Sheet> sheet = entry;
  const auto self = static_cast<std::size_t>(group.rank);
  sheet->exchanged->messages[self] = mine;
  sheet->came[self] = true;
  if (--sheet->expected == 0) {
    sheets_.erase(key);  // all have come: who is late holds it by himself
    sheet->complete.notify_all();
  }
  while (sheet->expected > 0) {
    if (!sheet->broken.empty()) refuse(mine, group.global_rank, sheet->broken);
    if (sheet->complete.wait_because(sheet.get(), lock, deadline)) continue;
    if (sheet->expected == 0) break;
    for (std::size_t i = 0; i < sheet->came.size(); ++i) {
      if (!sheet->came[i]) missing.push_back(static_cast<int>(i));
    }
    return nullptr;
  }
  return sheet->exchanged;
}

void Blackboard::refuse(const ControlMessage& mine, int rank, const std::string& why) {
  fail(Errc::peer_failed, "rank {}: {} at {}: {}", rank, mine.call, mine.where, why);
}

void Blackboard::lose(int rank, const std::string& how) {
  const std::lock_guard lock(mutex_);
  lost_.emplace_back(rank, fmt::format("rank {} {}", rank, how));
  for (auto& [key, sheet] : sheets_) {
    if (sheet->broken.empty() && sheet->members.contains(rank)) sheet->broken = lost_.back().second;
    sheet->complete.notify_all();
  }
}

void Blackboard::rejoin(int rank) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lost_, [rank](const auto& lost) { return lost.first == rank; });
}

}  // namespace dist
