#include "dist/group/diagnosis/compare_copies.h"

#include <algorithm>
#include <cstring>

#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/control.h"
#include "dist/group/job_state.h"

namespace dist {

namespace {

bool is_used_alone(const ProcessGroup& group) {
  const auto& state = (group ? group : rank_context().default_group).state();
  return !state || state->rank < 0 || state->size() == 1 || !state->job;
}

// The sketches of all ranks, of which each sends its own as it is in memory. Empty if ranks are at different
// tensors: then their collectives differ, too, and that is what the fingerprints report.
std::vector<check::Copies> exchanged(GroupState& group, const check::Copies& mine) {
  const auto& sketches = mine.sketches;
  const std::string data(reinterpret_cast<const char*>(sketches.data()),
                         sketches.size() * sizeof sketches[0]);
  const ControlCall call{"compare_copies", mine.where, group.identity.timeout};
  const ControlMessage message{fmt::format("compare_copies({})", mine.str()), mine.where.str(), data,
                               mine.where};
  const auto all = exchange_by_tag(group, call, control_tags | group.control_calls++, message);
  std::vector<check::Copies> copies;
  if (!all->agreed()) return copies;
  for (int i = 0; const ControlMessage& theirs : all->messages) {
    copies.push_back(mine);
    copies.back().rank = group.global_rank_of(i++);
    std::memcpy(copies.back().sketches.data(), theirs.data.data(), std::min(theirs.data.size(), data.size()));
  }
  return copies;
}

}  // namespace

bool compares_copies(const ProcessGroup& group) {
  if (is_used_alone(group)) return false;
  const JobState& job = *(group ? group : rank_context().default_group).state()->job;
  return job.simulation || (!job.context.virtual_world && job.settings.debug == DebugLevel::detail);
}

void compare_copies(const ProcessGroup& of, check::Copies mine) {
  if (!compares_copies(of)) return;
  const GroupInUse group(of, "compare_copies", mine.where);
  JobState& job = *group->job;
  mine.rank = group->global_rank;
  if (mine.axis.empty()) mine.axis = group->identity.name;
  if (job.simulation) return job.simulation->has_copies(*group, std::move(mine));
  const auto all = exchanged(*group, mine);
  if (all.empty()) return;
  if (auto finding = check::explain_copies(all)) {
    const std::string what = finding->what;
    fail(Errc::mismatch, "rank {}: {}{}", mine.rank, what, job.tell(std::move(*finding)));
  }
}

void compare_replicas(const ProcessGroup& group, const std::vector<NamedTensor>& tensors, CallSite at,
                      std::string_view axis, std::string_view fix) {
  if (!compares_copies(group)) return;
  check::Copies mine{.code = check::Code::different_replicas, .axis = std::string(axis)};
  mine.where = at, mine.fix = fix;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_defined()) continue;
    mine.names.push_back(name);
    mine.sketches.push_back(check::sketch_of(tensor));
  }
  if (!mine.names.empty()) compare_copies(group, std::move(mine));
}

}  // namespace dist
