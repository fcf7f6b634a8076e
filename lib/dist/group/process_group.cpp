#include "dist/group/process_group.h"

#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

const GroupState& state_of(const ProcessGroup& group) {
  if (!group) fail(Errc::invalid_argument, "this ProcessGroup is empty; new_group and split_group make one");
  return *group.state();
}

// While it lives, the rank stays in its job.
class CurrentJob {
 public:
  CurrentJob(std::string_view call, CallSite where) : default_group_({}, call, where) {}
  const JobState* operator->() const { return default_group_->job; }

 private:
  const GroupInUse default_group_;
};

}  // namespace

GroupInUse::GroupInUse(const ProcessGroup& group, std::string_view call, CallSite where)
    : context_(group ? nullptr : &rank_context()), pass_(group ? group.state()->gate : context_->gate) {
  if (!group && !pass_) fail_without_group(call, where);
  state_ = (group ? group : context_->default_group).state().get();
  if (!pass_ || !state_->is_own()) fail_destroyed(*state_, call, where);
}

void GroupInUse::fail_destroyed(const GroupState& group, std::string_view call, CallSite where) {
  if (!group.is_own())
    fail(Errc::not_initialized,
         "{} at {}: {} belongs to the parent, rank {}: a forked process is not in a job before "
         "init_process_group",
         call, where.str(), group.identity.name, group.global_rank);
  fail(Errc::not_initialized, "rank {}: {} at {}: {} was destroyed and cannot be used any more",
       group.global_rank, call, where.str(), group.identity.name);
}

void fail_without_group(std::string_view call, CallSite where) {
  if (is_beside_ranks())
    fail(Errc::not_initialized,
         "{} at {}: this thread does not belong to a rank: ranks are threads here, and a thread that a rank "
         "makes is not a rank's; call it from the rank's own function, give .group, or let the ranks be "
         "processes",
         call, where.str());
  fail(Errc::not_initialized, "{} at {}: there is no process group; call init_process_group first", call,
       where.str());
}

bool ProcessGroup::is_member() const { return state_ && state_->rank >= 0; }
int ProcessGroup::rank() const { return state_of(*this).rank; }
int ProcessGroup::size() const { return state_of(*this).size(); }
const std::vector<int>& ProcessGroup::ranks() const { return state_of(*this).identity.ranks.list(); }
const std::string& ProcessGroup::name() const { return state_of(*this).identity.name; }
std::string ProcessGroup::backend() const { return state_of(*this).identity.backend; }

int ProcessGroup::global_rank(int group_rank) const {
  const GroupState& state = state_of(*this);
  if (group_rank < 0 || group_rank >= state.size()) {
    fail(Errc::invalid_argument, "rank {}: {} has no group rank {}; it has {} ranks", state.global_rank,
         state.identity.name, group_rank, state.size());
  }
  return state.global_rank_of(group_rank);
}

int ProcessGroup::group_rank(int global_rank) const { return state_of(*this).group_rank_of(global_rank); }

bool is_initialized() {
  RankContext& context = rank_context();
  const Gate::Pass pass(context.gate);
  return pass && context.default_group.state()->is_own();
}

int get_rank(const ProcessGroup& group, Caller at) { return GroupInUse(group, "get_rank", at)->rank; }

int get_world_size(const ProcessGroup& group, Caller at) {
  const GroupInUse state(group, "get_world_size", at);
  return state->rank < 0 ? -1 : state->size();
}

int get_local_rank(Caller at) { return CurrentJob("get_local_rank", at)->job.local_rank; }
Device get_device(Caller at) { return CurrentJob("get_device", at)->device(); }
std::string get_backend(const ProcessGroup& group, Caller at) {
  return GroupInUse(group, "get_backend", at)->identity.backend;
}
std::vector<int> get_process_group_ranks(const ProcessGroup& group, Caller at) {
  return GroupInUse(group, "get_process_group_ranks", at)->identity.ranks.list();
}

ProcessGroup default_group(Caller at) {
  const GroupInUse stays({}, "default_group", at);
  return rank_context().default_group;
}

}  // namespace dist
