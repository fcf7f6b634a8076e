#include "dist/group/diagnosis/work_watch.h"

#include <exception>

#include "dist/core/log.h"
#include "dist/group/group_state.h"

namespace dist {

CallNote::CallNote(const GroupState& group, const Operation& operation)
    : kind(operation.kind),
      dtype(operation.dtype()),
      rank(group.global_rank),
      count(operation.count()),
      sequence(operation.sequence),
      record(operation.record),
      where(operation.where) {}

std::string CallNote::doing() const {
  const Amount amount = kind == OpKind::barrier ? Amount{} : Amount{count, dtype};
  return describe_call(name(kind), sequence, amount.str());
}

void WorkWatch::failed(std::uint64_t record) {
  silent_ = true;
  if (const auto entry = log_->recorder.find(record); !entry || entry->blocks) heard_ = true;
}

void WorkWatch::dropped(const CallNote& call) {
  if (std::uncaught_exceptions() > 0 || heard_) return;
  if (!silent_) return log(LogLevel::warn, "{}", dropped_work(call).line());
  const auto entry = log_->recorder.find(call.record);
  if (!entry || entry->state != RecordState::failed || heard_.exchange(true)) return;
  log(LogLevel::warn, "{}; its Work was dropped: wait() would have thrown this", entry->error);
}

check::Finding dropped_work(const CallNote& call) {
  return {check::Code::never_waited,
          fmt::format("rank {} dropped the Work of {} without wait()", call.rank, call.doing()),
          {{call.rank, call.doing(), call.where, {}}}};
}

}  // namespace dist
