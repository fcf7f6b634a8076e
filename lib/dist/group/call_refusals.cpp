// Why a call is refused: a group without this rank, an argument that names no rank of it, a tensor on a
// device that the backend does not take, a second thread; and a group that does not exist, or no longer does.
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/job_state.h"

namespace dist {

void Call::refuse_text(const std::string& why) const {
  fail(Errc::invalid_argument, "rank {}: {} at {}: {}", group.global_rank, name, operation.where.str(), why);
}

void Call::refuse_non_member() const {
  const std::string& group_name = group.identity.name;
  check::Finding finding{check::Code::wrong_group,
                         fmt::format("{} is used by a rank that is not a member of it", group_name),
                         {{group.global_rank, std::string(name), operation.where, {}}}};
  refuse("this rank is not a member of {} ({}){}", group_name,
         group.size() == 0 ? "it has no members"
                           : fmt::format("{}, this rank not among them", counted(group.size(), "member")),
         group.job->tell(std::move(finding)));
}

int Call::group_rank(std::string_view argument, int global, int in_group) const {
  if (in_group != -1) {
    if (in_group < 0 || in_group >= group.size()) {
      refuse(".group_{} = {} is not a rank of {}, which has {}", argument, in_group, group.identity.name,
             counted(group.size(), "rank"));
    }
    return in_group;
  }
  const int world = group.job->job.world_size;
  if (global < 0 || global >= world)
    refuse("{} = {} is not a rank; there are ranks 0 to {}", argument, global, world - 1);
  const int rank = group.group_rank_of(global);
  if (rank < 0) {
    const bool has_twin = argument == "src" || argument == "dst";
    refuse("{} = {} is not a member of {} ({} takes global ranks{})", argument, global, group.identity.name,
           has_twin ? argument : "it",
           has_twin ? fmt::format("; group ranks go into .group_{}", argument) : "");
  }
  return rank;
}

// In a simulation, the backend that the program named runs as "sim", but accepts only its own tensors.
void Call::check_device(Device device) const {
  if (group.identity.asked.empty() || !group.job->simulation) return;
  const BackendEntry& asked = backend_named(group.identity.asked);
  if (device.type == asked.device) return;
  const auto* const kind = asked.device == DeviceType::cpu ? "CPU" : "CUDA";
  check::Finding finding{
      check::Code::wrong_device,
      fmt::format("the {} backend takes {} tensors, and this one is on {}", asked.name, kind, device.str()),
      {{group.global_rank, fmt::format("{} ({})", name, operation.amount().str()), operation.where, {}}}};
  const std::string told = finding.what;
  refuse("{}{}", told, group.job->tell(std::move(finding)));
}

// Which of the two threads comes first would be chance, and may differ from rank to rank.
void Call::refuse_second_thread() const {
  refuse(
      "another thread of this rank is in a collective of {}, and collectives of a group need one order; "
      "give each thread a group of its own (new_group)",
      group.identity.name);
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

}  // namespace dist
