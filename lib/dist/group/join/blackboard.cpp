#include "dist/group/join/blackboard.h"

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"

namespace dist {

// One call of one group.
struct Blackboard::Sheet : WaitReason {
  explicit Sheet(const BoardCall& first)
      : came(static_cast<std::size_t>(first.members.size())),
        members(first.members),
        expected(first.members.size()),
        call(first.message.call),
        place(first.message.place) {
    exchanged->messages.resize(came.size());
  }

  std::shared_ptr<Exchanged> exchanged = std::make_shared<Exchanged>();
  std::vector<bool> came;
  Members members;
  int expected;
  std::string call;
  CallSite place;
  std::string broken;  // why it will never be complete; empty: it may become so
  Condition complete;

  bool is_for(const Members& others) const {
    return &members.list() == &others.list() || members.list() == others.list();
  }

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

std::shared_ptr<const Exchanged> Blackboard::exchange(const BoardCall& mine, std::vector<int>& missing) {
  std::unique_lock lock(mutex_);
  for (const auto& [lost, how] : lost_)
    if (mine.members.contains(lost)) refuse(mine, how);
  const Key key{mine.context, mine.members[0], mine.tag};
  auto& entry = sheets_[key];
  if (!entry) entry = std::make_shared<Sheet>(mine);
  const std::shared_ptr<Sheet> sheet = entry;
  if (!sheet->is_for(mine.members)) refuse_group(mine, *sheet);
  const auto self = static_cast<std::size_t>(mine.members.group_rank_of(mine.rank));
  sheet->exchanged->messages[self] = mine.message;
  if (!sheet->came[self]) --sheet->expected;  // only once, even when a given-up call is repeated
  sheet->came[self] = true;
  if (sheet->expected == 0) {
    sheets_.erase(key);  // all have arrived: a rank that is still reading holds the sheet itself
    sheet->complete.notify_all();
  }
  while (sheet->expected > 0) {
    if (!sheet->broken.empty()) refuse(mine, sheet->broken);
    if (sheet->complete.wait_because(sheet.get(), lock, mine.deadline)) continue;
    if (sheet->expected == 0) break;
    for (std::size_t i = 0; i < sheet->came.size(); ++i) {
      if (!sheet->came[i]) missing.push_back(static_cast<int>(i));
    }
    return nullptr;
  }
  return sheet->exchanged;
}

void Blackboard::refuse(const BoardCall& mine, const std::string& why) {
  fail(Errc::peer_failed, "rank {}: {} at {}: {}", mine.rank, mine.message.call, mine.message.where, why);
}

void Blackboard::refuse_group(const BoardCall& mine, const Sheet& sheet) {
  fail(Errc::mismatch,
       "rank {}: {} at {}: this rank calls it on a group of {}, others on one of {} other ranks", mine.rank,
       mine.message.call, mine.message.where, counted(mine.members.size(), "rank"), sheet.members.size());
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
