// A call on its way to the backend. Call's constructor checks the options; group_rank() and check_supported()
// check ranks, device and algorithm; admit() numbers the call and records it; issue() runs it on this thread
// or submits it. In front: what an observer of calls is notified of (ObservedWork), and a check that one
// thread at a time issues collectives.
#include "dist/group/call.h"

#include <atomic>

#include "dist/core/device/recording.h"
#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/group/diagnosis/call_observer.h"
#include "dist/group/job_state.h"
#include "dist/group/recorded_calls.h"

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

bool has_tensors(const Operation& operation) {
  return !operation.outputs.empty() || !operation.inputs.empty();
}

// Everything that a backend's support depends on besides the kind; never 0.
std::uint32_t signature(const Operation& operation) {
  const auto at = [](auto value, int bit) { return static_cast<std::uint32_t>(value) << bit; };
  const Device device = operation.device();
  return at(operation.dtype(), 0) | at(operation.op.kind(), 8) | at(device.type, 16) |
         at(device.index & 0x7ff, 20) | at(1, 31);
}

Work observed(const GroupState& group, const CallNote& call, std::shared_ptr<WorkState> state) {
  return Work(std::make_shared<ObservedWork>(group.job->calls, call, std::move(state)));
}

// While it lives, no other thread issues a collective of this group. Two threads that come at exactly the
// same moment may both pass: it is a check, not a lock, and costs next to nothing.
class OneAtATime {
 public:
  explicit OneAtATime(std::atomic<bool>* taken) : taken_(taken) {
    if (taken_) taken_->store(true, std::memory_order_relaxed);
  }
  ~OneAtATime() {
    if (taken_) taken_->store(false, std::memory_order_release);
  }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  std::atomic<bool>* const taken_;
};

// The simulator also sees when a call that blocks has returned.
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

}  // namespace

Call::Call(OpKind kind, std::string_view name_, const Options& options, CallSite where)
    : group_in_use_(options.group, name_, where),
      group(*group_in_use_),
      name(name_),
      async(options.async_op) {
  const Recording* const recording = Recording::current();
  if (recording && !(recording->has_collectives() && is_collective(kind))) Recording::refuse(name, where);
  operation.kind = kind;
  operation.where = where;
  operation.timeout = options.timeout.value_or(group.identity.timeout);
  operation.tag = options.tag;
  if (!options.algorithm.empty()) operation.algorithm = options.algorithm;
  if (group.rank < 0) refuse_non_member();
  if (operation.timeout < Timeout::zero()) refuse("the timeout is negative");
  const bool asks_nothing =
      options.tag == 0 && options.algorithm.empty() && options.group_src == -1 && options.group_dst == -1;
  if (!asks_nothing) check_options(options);
}

void Call::check_options(const Options& options) const {
  const OpKind kind = operation.kind;
  if (is_collective(kind)) {
    if (options.tag != 0) refuse(".tag = {} is for point-to-point operations only", options.tag);
  } else if (!options.algorithm.empty()) {
    refuse(".algorithm = \"{}\" is for collectives only", options.algorithm);
  }
  const bool takes_src = kind == OpKind::recv || kind == OpKind::broadcast || kind == OpKind::scatter;
  const bool takes_dst = kind == OpKind::send || kind == OpKind::reduce || kind == OpKind::gather;
  if (options.group_src != -1 && !takes_src) refuse("it does not take .group_src");
  if (options.group_dst != -1 && !takes_dst) refuse("it does not take .group_dst");
}

void Call::refuse_non_member() const {
  const std::string& group_name = group.identity.name;
  check::Finding finding{check::Code::wrong_group,
                         fmt::format("{} is used by a rank that is not a member of it", group_name),
                         {{group.global_rank, std::string(name), operation.where, {}}}};
  refuse("this rank is not a member of {} ({}){}", group_name,
         group.size() == 0 ? "it has no members"
                           : fmt::format("{} members, this rank not among them", group.size()),
         group.job->tell(std::move(finding)));
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

void Call::refuse_text(const std::string& why) const {
  fail(Errc::invalid_argument, "rank {}: {} at {}: {}", group.global_rank, name, operation.where.str(), why);
}

int Call::group_rank(std::string_view argument, int global, int in_group) const {
  if (in_group != -1) {
    if (in_group < 0 || in_group >= group.size()) {
      refuse(".group_{} = {} is not a rank of {}, which has {} ranks", argument, in_group,
             group.identity.name, group.size());
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

void Call::check_supported() const {
  if (group.job->simulation && !Tasking::current())
    refuse(
        "a thread that a simulated rank made is not part of the simulation; call it from the rank's "
        "function");
  auto& supported = group.supported[static_cast<std::size_t>(operation.kind)];
  if (has_tensors(operation) && supported.load(std::memory_order_relaxed) != signature(operation)) {
    check_device(operation.device());
    std::string why;
    if (!group.backend->supports(operation.kind, operation.op.kind(), operation.dtype(), operation.device(),
                                 &why))
      refuse("{}", why);
    supported.store(signature(operation), std::memory_order_relaxed);
  }
  if (!operation.algorithm.empty()) {
    try {
      group.backend->algorithm_for(operation);
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
  }
}

// Which of the two threads comes first would be chance, and may differ from rank to rank.
void Call::refuse_second_thread() const {
  refuse(
      "another thread of this rank is in a collective of {}, and collectives of a group need one order; "
      "give each thread a group of its own (new_group)",
      group.identity.name);
}

void Call::admit() {
  operation.sequence = is_collective(operation.kind) ? group.collectives++ : group.messages++;
  if (async) operation.own_tensors();  // it goes on after its caller has got its Work
  group.job->calls->issued(group, operation, async);
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

Work Call::issue() {
  check_supported();
  if (Recording::current()) return record(*this);
  const bool is_ordered = is_collective(operation.kind);
  if (is_ordered && group.in_collective.load(std::memory_order_acquire)) refuse_second_thread();
  const OneAtATime turn(is_ordered ? &group.in_collective : nullptr);
  admit();
  if (async) {
    const CallNote note(group, operation);
    return observed(group, note, group.backend->submit(std::move(operation)));
  }
  const int source = group.job->simulation ? run_simulated(group, operation) : group.backend->run(operation);
  if (operation.kind == OpKind::recv) return Work(group.global_rank_of(source));
  return {};
}

}  // namespace dist
