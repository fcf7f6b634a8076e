#include "dist/group/process_group.h"

#include "dist/core/counted.h"
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

bool ProcessGroup::is_member() const { return state_ && state_->rank >= 0; }
int ProcessGroup::rank() const { return state_of(*this).rank; }
int ProcessGroup::size() const { return state_of(*this).size(); }
const std::vector<int>& ProcessGroup::ranks() const { return state_of(*this).identity.ranks.list(); }
const std::string& ProcessGroup::name() const { return state_of(*this).identity.name; }
std::string ProcessGroup::backend() const { return state_of(*this).identity.backend; }

int ProcessGroup::global_rank(int group_rank) const {
  const GroupState& state = state_of(*this);
  if (group_rank < 0 || group_rank >= state.size()) {
    fail(Errc::invalid_argument, "rank {}: {} has no group rank {}; it has {}", state.global_rank,
         state.identity.name, group_rank, counted(state.size(), "rank"));
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
