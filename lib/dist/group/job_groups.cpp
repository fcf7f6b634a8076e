// The groups of a job, and what each is given.
#include <algorithm>
#include <set>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/job_state.h"
#include "dist/group/join/virtual_world.h"

namespace dist {

GroupState::GroupState(Identity of, int my_global_rank)
    : identity(std::move(of)), global_rank(my_global_rank), rank(group_rank_of(my_global_rank)) {}

void GroupState::finish_pending() {
  if (!backend) return;
  for (const auto& given_up : backend->finish()) {
    log(LogLevel::warn, "{} was never waited for, and nothing had arrived when the group was destroyed",
        given_up);
  }
}

// 1 where hosts are not known: among virtual ranks.
int JobState::nodes_of(const Members& members) const {
  std::set<int> hosts;
  for (const int member : members.list())
    if (static_cast<std::size_t>(member) < job.hosts.size())
      hosts.insert(job.hosts[static_cast<std::size_t>(member)]);
  return std::max(1, static_cast<int>(hosts.size()));
}

std::shared_ptr<GroupState> JobState::add_group(GroupState::Identity identity,
                                                std::shared_ptr<void> split_off) {
  auto group = make_group(std::move(identity));
  give_backend(*group, std::move(split_off));
  return group;
}

std::shared_ptr<GroupState> JobState::make_group(GroupState::Identity identity) {
  auto group = std::make_shared<GroupState>(std::move(identity), job.rank);
  group->job = this;
  log->recorder.name_group(group->identity.context, group->identity.name, group->identity.ranks);
  const std::lock_guard lock(groups_mutex_);
  groups.push_back(group);
  if (!leaving_) group->gate.open();
  return group;
}

void JobState::give_backend(GroupState& group, std::shared_ptr<void> split_off) {
  if (group.rank < 0) return;
  BackendContext backend;
  backend.group_name = group.identity.name;
  backend.context = group.identity.context;
  backend.rank = group.rank;
  backend.members = group.identity.ranks;
  if (job.store) backend.store = std::make_shared<PrefixStore>("group/" + group.identity.name, job.store);
  backend.endpoint = endpoint;
  backend.send_mode = settings.send_mode;
  backend.algorithms = settings.algorithms;
  backend.costs = &costs;
  backend.nodes = nodes_of(backend.members);
  group.observer = make_group_observer(*this, group);
  backend.observer = group.observer.get();
  backend.split_off = std::move(split_off);
  if (context.virtual_world) group.backend = context.virtual_world->backend(backend);
  if (!group.backend) group.backend = find_backend(group.identity.backend).make(backend);
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
