// A call on its way to the backend. Call's constructor checks the options; check_supported() checks device
// and algorithm; admit() numbers the call and records it; issue() runs it on this thread or submits it. In
// front: a check that one thread at a time issues collectives. What a refusal says is in call_refusals.cpp.
#include "dist/group/call.h"

#include <atomic>

#include "dist/core/device/recording.h"
#include "dist/core/tasking.h"
#include "dist/group/job_state.h"
#include "dist/group/observed_work.h"
#include "dist/group/recorded_calls.h"

namespace dist {
namespace {

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

}  // namespace

GroupInUse::GroupInUse(const ProcessGroup& group, std::string_view call, CallSite where)
    : context_(group ? nullptr : &rank_context()), pass_(group ? group.state()->gate : context_->gate) {
  if (!group && !pass_) fail_without_group(call, where);
  state_ = (group ? group : context_->default_group).state().get();
  if (!pass_ || !state_->is_own()) fail_destroyed(*state_, call, where);
}

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

void Call::admit() {
  operation.sequence = is_collective(operation.kind) ? group.collectives++ : group.messages++;
  operation.given_up = group.steps_given_up;
  if (async) operation.own_tensors();  // it goes on after its caller has got its Work
  group.job->calls->issued(group, operation, async);
}

Work Call::issue() {
  check_supported();
  if (Recording::current()) return record(*this);
  const bool is_ordered = is_collective(operation.kind);
  if (is_ordered && group.in_collective.load(std::memory_order_acquire)) refuse_second_thread();
  const OneAtATime turn(is_ordered ? &group.in_collective : nullptr);
  admit();
  if (async) return submit(group, std::move(operation));
  const int source = group.job->simulation ? run_simulated(group, operation) : group.backend->run(operation);
  if (operation.kind == OpKind::recv) return Work(group.global_rank_of(source));
  return {};
}

}  // namespace dist
