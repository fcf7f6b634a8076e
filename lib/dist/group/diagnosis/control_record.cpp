#include "dist/group/diagnosis/control_record.h"

#include <algorithm>

#include "dist/check/who.h"
#include "dist/core/fail.h"
#include "dist/group/job_state.h"

namespace dist {

ControlRecord::ControlRecord(GroupState& group, const ControlCall& call, std::uint64_t sequence)
    : group_(group), where_(call.where) {
  FlightCall record;
  record.family = CallFamily::control;
  record.blocks = true;
  record.operation = call.name;
  record.group = group.identity.context;
  record.sequence = sequence;
  record.where = call.where;
  group.job->calls->began(record, id_);
}

void ControlRecord::completed() { group_.job->calls->ended(id_); }

void ControlRecord::failed(const Error& error) {
  std::rethrow_exception(group_.job->note_failure(id_, where_, std::make_exception_ptr(error)));
}

void fail_absent(const GroupState& group, const ControlCall& call, const ControlMessage& mine,
                 std::vector<int> absent) {
  for (auto& rank : absent) rank = group.global_rank_of(rank);
  fail(Errc::timeout,
       "rank {}: {} at {}: {} did not come within {} ms; do all ranks of the group call it, in the same "
       "order?",
       group.global_rank, mine.call, mine.where, check::list_ranks(absent),
       std::chrono::duration_cast<std::chrono::milliseconds>(call.timeout).count());
}

std::string disagreement(const GroupState& group, const ControlCall& call,
                         const std::vector<ControlMessage>& messages) {
  std::vector<check::RankSays> said;
  std::vector<check::Party> parties;
  for (int i = 0; const auto& message : messages) {
    const int rank = group.global_rank_of(i++);
    said.push_back({rank, message.call, " at " + message.where});
    parties.push_back({rank, message.call, CallSite::parse(message.where), {}});
  }
  std::string text = check::who_says_what(said, "calls ", "call ");
  const auto is_of_groups = [](const check::Party& party) {
    return party.doing.starts_with("new_group") || party.doing.starts_with("split_group");
  };
  const auto code = std::ranges::any_of(parties, is_of_groups) ? check::Code::wrong_group
                                                               : check::Code::mismatched_collective;
  if (call.name != "init_process_group")
    text += group.job->tell(check::explain_difference(code, std::move(parties)));
  return text;
}

}  // namespace dist
