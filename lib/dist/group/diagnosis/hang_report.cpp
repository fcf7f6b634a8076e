// What the ranks' snapshots prove. HangAnalysis marks the ranks that certainly block forever and finds the
// cycle, or the rank that all wait for (D1); different_from() finds ranks in different collectives (D2);
// find_misfit() finds a message whose other side does not fit (D3).
#include "dist/group/diagnosis/hang_report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dist/check/who.h"

namespace dist {
namespace {

bool is_same_collective(const SnapshotCall& a, const SnapshotCall& b) {
  return a.family == b.family && a.group == b.group && a.sequence == b.sequence;
}

// Whether the two can be the two ends of one message: `a` by rank `of_a`, `b` by rank `of_b`.
bool may_meet(const SnapshotCall& a, int of_a, const SnapshotCall& b, int of_b) {
  const auto names = [](const SnapshotCall& call, int rank) { return call.peer == rank || call.peer < 0; };
  return a.is_message() && b.is_message() && a.is_send() != b.is_send() && a.group == b.group &&
         a.tag == b.tag && names(a, of_b) && names(b, of_a);
}

// Which ranks are blocked forever.
class HangAnalysis {
 public:
  explicit HangAnalysis(const JobSnapshot& job) : job_(job), stuck_(job.snapshots.size()) {
    for (const Snapshot& snapshot : job_.snapshots) stuck_[index(snapshot.rank)] = stands_still(snapshot);
    while (release_those_who_may_go_on()) {
    }
  }

  std::optional<check::Finding> finding() const {
    if (!stuck_[index(job_.rank)]) return std::nullopt;
    std::vector<std::pair<int, const SnapshotCall*>> open;
    std::vector<int> ended;
    for (const int rank : needed_by(job_.rank)) {
      const Snapshot& snapshot = of(rank);
      if (snapshot.state == Snapshot::State::left) ended.push_back(rank);
      if (!stuck_[index(rank)]) continue;
      for (const SnapshotCall& call : snapshot.calls)
        if (call.is_open() && call.blocks) open.emplace_back(rank, &call);
    }
    const bool one_group = std::ranges::all_of(
        open, [&](const auto& each) { return each.second->group == open[0].second->group; });
    std::vector<check::Party> waiting;
    for (const auto& [rank, call] : open)
      waiting.push_back({rank, one_group || call->is_message() ? call->doing : with_group(*call), call->where,
                         hopeless(rank, *call), call->tag, call->is_message() ? call->group_name : ""});
    return check::explain_deadlock(std::move(waiting), ended);
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  static std::string with_group(const SnapshotCall& call) {
    return fmt::format("{} among {}", call.doing, check::list_ranks(call.members));
  }
  const Snapshot& of(int rank) const { return job_.snapshots[index(rank)]; }

  bool stands_still(const Snapshot& snapshot) const {
    if (snapshot.state != Snapshot::State::present || !snapshot.is_complete) return false;
    bool any = false;
    for (const SnapshotCall& call : snapshot.calls) {
      if (!call.is_open() || !call.blocks) continue;
      if (call.age < job_.settled) return false;
      any = true;
    }
    return any;
  }

  bool release_those_who_may_go_on() {
    bool released = false;
    for (const Snapshot& snapshot : job_.snapshots) {
      if (!stuck_[index(snapshot.rank)]) continue;
      const bool goes_on = std::ranges::any_of(snapshot.calls, [&](const SnapshotCall& call) {
        return call.is_open() && call.blocks && !is_hopeless(snapshot.rank, call);
      });
      if (goes_on) stuck_[index(snapshot.rank)] = false, released = true;
    }
    return released;
  }

  bool never_comes(int rank) const { return of(rank).state == Snapshot::State::left || stuck_[index(rank)]; }

  // For a receive from any rank one of the awaited ranks suffices; every other call needs all of them.
  bool is_hopeless(int rank, const SnapshotCall& call) const {
    const auto awaited = waits_for(rank, call);
    const auto lost = [&](int other) { return never_comes(other); };
    if (awaited.empty()) return false;
    return call.is_message() && call.peer < 0 ? std::ranges::all_of(awaited, lost)
                                              : std::ranges::any_of(awaited, lost);
  }

  std::vector<int> hopeless(int rank, const SnapshotCall& call) const {
    auto awaited = waits_for(rank, call);
    std::erase_if(awaited, [&](int other) { return !never_comes(other); });
    return awaited;
  }

  // The ranks whose part of the call has not begun.
  std::vector<int> waits_for(int rank, const SnapshotCall& call) const {
    std::vector<int> awaited;
    if (!call.is_message()) {
      std::ranges::copy_if(call.members, std::back_inserter(awaited),
                           [&](int other) { return other != rank && !has_begun(of(other), call); });
    } else if (!is_met(rank, call)) {
      if (call.peer >= 0) return {call.peer};
      std::ranges::copy_if(call.members, std::back_inserter(awaited),
                           [&](int other) { return other != rank; });
    }
    return awaited;
  }

  static bool has_begun(const Snapshot& snapshot, const SnapshotCall& call) {
    if (snapshot.state == Snapshot::State::left) return false;
    if (snapshot.state != Snapshot::State::present || !snapshot.is_complete) return true;  // unknown, so yes
    return std::ranges::any_of(snapshot.begun, [&](const Begun& begun) {
      return begun.group == call.group && begun.family == call.family && begun.calls > call.sequence;
    });
  }

  // Messages between two ranks meet in order: whether this one has a partner.
  bool is_met(int rank, const SnapshotCall& call) const {
    std::size_t before = 0, partners = 0;
    for (const SnapshotCall& other : of(rank).calls) {
      const bool competes = other.is_message() && other.is_send() == call.is_send() && other.is_open() &&
                            other.group == call.group && other.tag == call.tag &&
                            other.record < call.record &&
                            (other.peer == call.peer || other.peer < 0 || call.peer < 0);
      before += competes ? 1 : 0;
    }
    for (const Snapshot& snapshot : job_.snapshots) {
      if (snapshot.state != Snapshot::State::present) continue;
      partners +=
          static_cast<std::size_t>(std::ranges::count_if(snapshot.calls, [&](const SnapshotCall& other) {
            return other.is_open() && may_meet(call, rank, other, snapshot.rank);
          }));
    }
    return partners > before;
  }

  std::vector<int> needed_by(int rank) const {
    std::vector<int> needed{rank};
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!stuck_[index(needed[i])]) continue;
      for (const SnapshotCall& call : of(needed[i]).calls) {
        if (!call.is_open() || !call.blocks) continue;
        for (const int other : hopeless(needed[i], call))
          if (std::ranges::find(needed, other) == needed.end()) needed.push_back(other);
      }
    }
    return needed;
  }

  const JobSnapshot& job_;
  std::vector<bool> stuck_;  // by rank
};

std::optional<check::Finding> different_from(const JobSnapshot& job, const SnapshotCall& mine) {
  std::vector<check::Party> parties;
  bool differ = false;
  for (const Snapshot& snapshot : job.snapshots) {
    for (const SnapshotCall& call : snapshot.calls) {
      if (!is_same_collective(call, mine)) continue;
      differ = differ || call.name != mine.name;
      parties.push_back({snapshot.rank, call.doing, call.where, {}});
    }
  }
  if (!differ) return std::nullopt;
  return check::explain_difference(check::Code::mismatched_collective, std::move(parties));
}

}  // namespace

std::optional<check::Finding> find_different_collectives(const JobSnapshot& job) {
  const Snapshot& own = job.snapshots[static_cast<std::size_t>(job.rank)];
  const SnapshotCall* const mine = own.find(job.record);
  if (mine && mine->family == CallFamily::collective) return different_from(job, *mine);
  return std::nullopt;
}

std::optional<check::Finding> explain_stall(const JobSnapshot& job) {
  if (auto different = find_different_collectives(job)) return different;
  for (const Snapshot& snapshot : job.snapshots) {
    for (const SnapshotCall& call : snapshot.calls) {
      if (call.family != CallFamily::collective || !call.is_open()) continue;
      if (auto different = different_from(job, call)) return different;
    }
  }
  return HangAnalysis(job).finding();
}

std::optional<check::Finding> find_misfit(const JobSnapshot& job) {
  const SnapshotCall* const mine = job.snapshots[static_cast<std::size_t>(job.rank)].find(job.record);
  if (!mine || !mine->is_message()) return std::nullopt;
  for (const Snapshot& snapshot : job.snapshots) {
    for (auto call = snapshot.calls.rbegin(); call != snapshot.calls.rend(); ++call) {
      if (!may_meet(*mine, job.rank, *call, snapshot.rank)) continue;
      const auto party = [](int rank, const SnapshotCall& of, int peer) {
        return check::Party{
            rank, check::describe_message(of.name, of.is_send(), of.bytes, peer), of.where, {}};
      };
      check::Party one = party(job.rank, *mine, snapshot.rank), other = party(snapshot.rank, *call, job.rank);
      if (mine->is_send())
        return check::explain_misfit({std::move(one), std::move(other), mine->bytes, call->bytes});
      return check::explain_misfit({std::move(other), std::move(one), call->bytes, mine->bytes});
    }
  }
  return std::nullopt;
}

}  // namespace dist
