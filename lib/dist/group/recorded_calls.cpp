// RecordedCalls: the calls of one group in one graph. can_record() and record() are for a thread that
// records.
#include "dist/group/recorded_calls.h"

#include <memory>
#include <vector>

#include "dist/backend/graph_backend.h"
#include "dist/core/device/recording.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

GraphBackend* graph_backend_of(const GroupState& group) {
  return dynamic_cast<GraphBackend*>(group.backend.get());
}

class RecordedCalls final : public AroundLaunch {
 public:
  RecordedCalls(GroupState& group, CallSite where) : group_(group.shared_from_this()), where_(where) {}

  void add(const Operation& operation, std::shared_ptr<WorkState> work) {
    operations_.push_back(operation);
    works_.push_back(std::move(work));
  }
  void before() override {
    const GroupInUse group(group_, name, where_);
    for (Operation& operation : operations_) {
      operation.sequence = group->collectives++;
      operation.given_up = group->steps_given_up;
      group->job->calls->issued(*group, operation, false);
    }
    graph_backend_of(*group)->before_launch(operations_);
  }
  void after() override {
    const GroupInUse group(group_, name, where_);
    graph_backend_of(*group)->after_launch(operations_);
  }

 private:
  static constexpr std::string_view name = "a step that was recorded as a graph";
  const ProcessGroup group_;
  const CallSite where_;
  std::vector<Operation> operations_;
  std::vector<std::shared_ptr<WorkState>> works_;  // kept for the backend
};

}  // namespace

bool can_record(const ProcessGroup& group, CallSite where) {
  const Recording* const now = Recording::current();
  if (!now || !now->has_collectives()) return false;
  const GroupInUse in_use(group, "a graph", where);
  const GraphBackend* const backend = graph_backend_of(*in_use);
  return backend && backend->can_record(OpKind::all_reduce) && backend->can_record(OpKind::broadcast);
}

Work record(Call& call) {
  GroupState& group = call.group;
  GraphBackend* const backend = graph_backend_of(group);
  Recording& now = *Recording::current();
  Operation& operation = call.operation;
  operation.own_tensors();  // while the graph lives, no other work may get their memory
  if (!backend || operation.device() != now.device() || !backend->can_record(operation.kind))
    Recording::refuse(call.name, operation.where);
  auto work = backend->record(operation);
  AroundLaunch& calls =
      now.around(&group, [&] { return std::make_unique<RecordedCalls>(group, operation.where); });
  static_cast<RecordedCalls&>(calls).add(operation, work);
  if (call.async) return Work(std::move(work));
  work->wait(no_timeout);
  return {};
}

}  // namespace dist
