// Making groups: new_group() and split_group(); then add_group() and remove_group(). Both exchange what each
// rank calls and proposes (control.h) and then compute the same result on every rank: the context number
// (agree_on_context), whether the parent's backend is split (all_can_split), and for split_group() the
// members of every color (split_by_color).
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/control.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

// Numbers that a rank puts into its message's data, and reads from the others' messages.
std::string encode(std::initializer_list<std::int64_t> numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::vector<std::int64_t> decode(const std::string& data) {
  std::vector<std::int64_t> numbers;
  const char* at = data.data();
  const char* const end = at + data.size();
  while (at < end) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) fail(Errc::internal, "a control message is damaged: \"{}\"", data);
    numbers.push_back(number);
    at = next + 1;
  }
  return numbers;
}

// The first context number that none of these ranks has used yet: each proposes its next one, and the highest
// wins. (MPI libraries do the same. Groups without a common rank may get equal numbers; they never exchange
// messages.) The first number of each message's data is the proposal.
std::uint32_t agree_on_context(const std::vector<ControlMessage>& messages) {
  std::uint32_t context = 0;
  for (const auto& message : messages) {
    context = std::max(context, static_cast<std::uint32_t>(decode(message.data).front()));
  }
  return context;
}

// What a rank says about the backend of the parent group: 1 when it can be split.
std::int64_t can_split(const GroupState& parent, const std::string& backend) {
  return parent.backend && parent.identity.backend == backend && parent.backend->can_split() ? 1 : 0;
}

// The last number of each message's data is that rank's answer.
bool all_can_split(const std::vector<ControlMessage>& messages) {
  return std::ranges::all_of(messages, [](const auto& message) { return decode(message.data).back() == 1; });
}

// This rank's part of a group that `parent` is split into, for that group's backend.
std::shared_ptr<void> split_off(GroupState& parent, std::int64_t color, const Members& members) {
  const int rank = members.group_rank_of(parent.global_rank);
  return parent.backend->split(
      {.color = rank < 0 ? -1 : static_cast<int>(color), .rank = rank, .size = members.size()},
      parent.identity.timeout);
}

// Every color's group, and one context number for all of them: no rank is in two of them.
struct Split {
  std::uint32_t context = 0;
  bool splits_backend = false;
  std::map<std::int64_t, Members> groups;
};

Split split_by_color(const GroupState& parent, const std::vector<ControlMessage>& messages) {
  using Member = std::pair<std::int64_t, int>;  // key, rank in the parent
  std::map<std::int64_t, std::vector<Member>> by_color;
  for (int rank = 0; const auto& message : messages) {
    const auto numbers = decode(message.data);
    if (numbers[1] >= 0) by_color[numbers[1]].push_back({numbers[2], rank});
    ++rank;
  }
  Split split;
  split.context = agree_on_context(messages);
  split.splits_backend = all_can_split(messages);
  for (auto& [color, members] : by_color) {
    std::ranges::sort(members);
    std::vector<int> ranks;
    for (const auto& [key, parent_rank] : members) ranks.push_back(parent.global_rank_of(parent_rank));
    split.groups[color] = Members(std::move(ranks));
  }
  return split;
}

void check_ranks(const GroupState& world, const std::vector<int>& ranks, CallSite where) {
  const auto refuse = [&](const std::string& why) {
    fail(Errc::invalid_argument, "rank {}: new_group({{{}}}) at {}: {}", world.global_rank,
         fmt::join(ranks, ", "), where.str(), why);
  };
  if (ranks.empty()) refuse("it needs at least one rank");
  std::vector<int> sorted = ranks;
  std::ranges::sort(sorted);
  if (sorted.front() < 0 || sorted.back() >= world.size()) {
    refuse(fmt::format("rank {} does not exist; there are ranks 0 to {}",
                       sorted.front() < 0 ? sorted.front() : sorted.back(), world.size() - 1));
  }
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    refuse(fmt::format("rank {} is listed twice", *twice));
  }
}

}  // namespace

ProcessGroup new_group(const std::vector<int>& in_order, const NewGroupOptions& options, Caller at) {
  const GroupInUse default_group({}, "new_group", at);
  GroupState& world = *default_group;
  JobState& job = *world.job;
  check_ranks(world, in_order, at);
  std::vector<int> ranks = in_order;
  if (options.sort_ranks) std::ranges::sort(ranks);
  const auto [backend, asked] = options.backend.empty() || options.backend == "auto"
                                    ? ResolvedBackend{world.identity.backend, world.identity.asked}
                                    : resolve_backend(options.backend, job.context);
  const Timeout timeout = options.timeout.value_or(world.identity.timeout);
  if (timeout < Timeout::zero())
    fail(Errc::invalid_argument, "rank {}: new_group at {}: the timeout is negative", world.global_rank,
         at.str());
  const std::uint64_t number = world.control_calls;
  const auto exchanged = exchange(
      world, {"new_group", at, timeout},
      {fmt::format("new_group({{{}}}, backend {})", fmt::join(ranks, ", "), asked.empty() ? backend : asked),
       at.str(), encode({job.next_context, can_split(world, backend)}), at});
  struct Agreed {
    std::uint32_t context;
    bool splits_backend;
    Members members;
  };
  const auto& [context, splits_backend, members] = exchanged->once([&](const auto& messages) {
    return Agreed{agree_on_context(messages), all_can_split(messages), Members(ranks)};
  });
  job.next_context = context + 1;
  return ProcessGroup(
      job.add_group({fmt::format("group {}", number), context, members, backend, asked, timeout},
                    splits_backend ? split_off(world, 0, members) : nullptr));
}

ProcessGroup split_group(int color, int key, const SplitOptions& options, Caller at) {
  const GroupInUse in_use(options.parent, "split_group", at);
  GroupState& parent = *in_use;
  JobState& job = *parent.job;
  if (parent.rank < 0) {
    fail(Errc::invalid_argument, "rank {}: split_group at {}: this rank is not a member of {}",
         parent.global_rank, at.str(), parent.identity.name);
  }
  const std::uint64_t number = parent.control_calls;
  const auto exchanged =
      exchange(parent, {"split_group", at, parent.identity.timeout},
               {"split_group", at.str(),
                encode({job.next_context, color, key, can_split(parent, parent.identity.backend)}), at});
  const Split& split =
      exchanged->once([&](const auto& messages) { return split_by_color(parent, messages); });
  job.next_context = split.context + 1;
  const Members members = color < 0 ? Members() : split.groups.at(color);
  const std::string parent_name =
      parent.identity.context == 0 ? "" : fmt::format(" of {}", parent.identity.name);
  const std::string name =
      color < 0 ? fmt::format("any group of split {}{} (its color is below 0)", number, parent_name)
                : fmt::format("group {} color {}{}", number, color, parent_name);
  return ProcessGroup(job.add_group(
      {name, split.context, members, parent.identity.backend, parent.identity.asked, parent.identity.timeout},
      split.splits_backend ? split_off(parent, color, members) : nullptr));
}

std::shared_ptr<GroupState> JobState::add_group(GroupState::Identity identity,
                                                std::shared_ptr<void> split_off) {
  auto group = make_group(std::move(identity));
  give_backend(*group, std::move(split_off));
  return group;
}

void JobState::remove_group(GroupState& group) {
  const auto in_it = [&](const FlightRecord& call) { return call.group == group.identity.context; };
  group.gate.close();
  const Deadline deadline = Deadline::after(leave_patience);
  if (!are_empty({&group.gate}, deadline) || !no_thread_stays(deadline.left(), in_it)) {
    group.gate.open();
    fail(
        Errc::invalid_argument,
        "rank {}: destroy_process_group: a thread of this rank is in a call of {}; destroy the group when it "
        "has returned",
        job.rank, group.identity.name);
  }
  group.finish_pending();
  const std::lock_guard lock(groups_mutex_);
  const auto kept = std::ranges::find(groups, &group, &std::shared_ptr<GroupState>::get);
  if (others_stood_ && kept != groups.end()) {
    keep_for_ever(*kept);
    keep_for_ever(std::shared_ptr<Backend>(std::move(group.backend)));
    keep_for_ever(std::shared_ptr<OperationObserver>(std::move(group.observer)));
  }
  group.backend.reset();
  group.observer.reset();
  group.job = nullptr;
  std::erase_if(groups, [&](const auto& candidate) { return candidate.get() == &group; });
}

}  // namespace dist
