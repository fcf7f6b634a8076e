#include "dist/group/work_watch.h"

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

void WorkWatch::waiting(const CallNote& call, bool yes) { log_->recorder.waiting(call.record, yes); }

void WorkWatch::never_waited(const CallNote& call) {
  if (!silent_ && std::uncaught_exceptions() == 0) log(LogLevel::warn, "{}", dropped_work(call).line());
}

check::Finding dropped_work(const CallNote& call) {
  return {check::Code::never_waited,
          fmt::format("rank {} dropped the Work of {} without wait()", call.rank, call.doing()),
          {{call.rank, call.doing(), call.where, {}}}};
}

}  // namespace dist
