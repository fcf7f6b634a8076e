#include "dist/group/observed_work.h"

#include <atomic>

#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

// Reports to the observers how its user treats it.
class ObservedWork final : public WorkState {
 public:
  ObservedWork(std::shared_ptr<CallObservers> observers, const CallNote& call,
               std::shared_ptr<WorkState> work)
      : observers_(std::move(observers)), call_(call), work_(std::move(work)) {}
  ~ObservedWork() override {
    if (!ended_) told_ ? observers_->returned(call_.record, true) : observers_->dropped(call_);
  }
  ObservedWork(const ObservedWork&) = delete;
  ObservedWork& operator=(const ObservedWork&) = delete;
  void wait(Timeout timeout) override {
    observers_->waiting(call_, timeout, true);
    try {
      work_->wait(timeout);
    } catch (...) {
      told_ = true;  // true after an error; after a timeout the operation goes on
      observers_->waiting(call_, timeout, false);
      if (work_->is_completed()) end(true);
      throw;
    }
    observers_->waiting(call_, timeout, false);
    end(false);
  }
  bool is_completed() override {
    const bool completed = work_->is_completed();
    if (completed) end(false);
    return completed;
  }
  int source_rank() override { return work_->source_rank(); }

 private:
  void end(bool with_error) {
    if (!ended_.exchange(true)) observers_->returned(call_.record, with_error);
  }
  const std::shared_ptr<CallObservers> observers_;
  const CallNote call_;
  const std::shared_ptr<WorkState> work_;
  std::atomic<bool> ended_{false}, told_{false};
};

Work observed(const GroupState& group, const CallNote& call, std::shared_ptr<WorkState> state) {
  return Work(std::make_shared<ObservedWork>(group.job->calls, call, std::move(state)));
}

}  // namespace

Work submit(GroupState& group, Operation operation) {
  const CallNote note(group, operation);
  return observed(group, note, group.backend->submit(std::move(operation)));
}

std::vector<Work> submit(GroupState& group, std::vector<Operation> operations) {
  std::vector<CallNote> calls;
  calls.reserve(operations.size());
  for (const auto& operation : operations) calls.emplace_back(group, operation);
  auto states = group.backend->submit_batch(std::move(operations));
  std::vector<Work> works;
  works.reserve(states.size());
  for (std::size_t i = 0; i < states.size(); ++i)
    works.push_back(observed(group, calls[i], std::move(states[i])));
  return works;
}

int run_simulated(GroupState& group, Operation& operation) {
  CallObservers& calls = *group.job->calls;
  try {
    const int source = group.backend->run(operation);
    calls.returned(operation.record, false);
    return source;
  } catch (const std::exception&) {
    calls.returned(operation.record, true);
    throw;
  }
}

}  // namespace dist
