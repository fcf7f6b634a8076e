// DistributedDataParallel: which parameters go into which bucket (at first in reverse order of registration,
// after the first backward in the order in which rank 0's gradients were ready), the broadcast of buffers,
// and a backward that starts a bucket's all_reduce as soon as the bucket is full (gradient_buckets.h).
#include "dist/parallel/distributed_data_parallel.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/device/recording.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/check_same.h"
#include "dist/group/given_up.h"
#include "dist/group/recorded_calls.h"
#include "dist/mesh/placed.h"
#include "dist/parallel/gradient_buckets.h"
#include "dist/parallel/packed.h"
#include "dist/parallel/replicas.h"

namespace dist {
namespace {

using Order = std::vector<std::size_t>;
using Limits = std::vector<std::size_t>;  // bytes per bucket; empty: no limit

Limits limits_of(const DdpOptions& options) { return {options.first_bucket_bytes, options.bucket_bytes}; }

Order agreed(Order order, const ProcessGroup& group, CallSite where) {
  Tensor indices = empty({static_cast<std::int64_t>(order.size())}, DType::i64, cpu);
  std::ranges::copy(order, indices.data<std::int64_t>().begin());
  broadcast(indices, group.global_rank(0), {.group = group}, where);
  std::ranges::copy(indices.data<std::int64_t>(), order.begin());
  return order;
}

// The model's buffers, moved into one tensor per dtype and device.
std::vector<Tensor> packed_buffers(nn::Module& model) {
  std::vector<std::vector<Tensor*>> kinds;
  for (const auto& [name, buffer] : model.named_buffers()) {
    Tensor& value = buffer->value;
    const auto alike = [&value](const auto& kind) {
      return kind.front()->dtype() == value.dtype() && kind.front()->device() == value.device();
    };
    const auto kind = std::ranges::find_if(kinds, alike);
    (kind == kinds.end() ? kinds.emplace_back() : *kind).push_back(&value);
  }
  std::vector<Tensor> packed;
  for (const auto& kind : kinds) packed.push_back(pack(kind));
  return packed;
}

// Ends a forward or backward that throws, before its error reaches the user.
struct AbandonIfFailed {
  std::unique_ptr<GradientBuckets>& gradients;
  const ProcessGroup& group;
  bool failed = true;
  ~AbandonIfFailed() {
    if (!failed) return;
    gradients->abandon();
    give_up_step(group);
  }
};

DeviceGroups groups_if_alike(nn::Module& model, const ProcessGroup& group, CallSite where) {
  require_whole("DistributedDataParallel", model.named_parameters(), group, where);
  check_same("DistributedDataParallel", description(model), group, where);
  return DeviceGroups(model, group, where);
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(nn::Module& model, const DdpOptions& options, CallSite where)
    : model_(model),
      options_(options),
      where_(line_of_model(options.group, where.is_in_std() ? options.made_at : where)),
      group_(options.group ? options.group : default_group(where_)),
      groups_(groups_if_alike(model, group_, where_)),
      parameters_(model.named_parameters()),
      steps_(std::make_unique<OpenSteps>()) {
  if (!options.hook)
    fail(Errc::invalid_argument,
         "DistributedDataParallel: .hook is empty; leave it out, and all_reduce averages the gradients");
  train(model.is_training());  // before the model is below it, whose parts keep their modes
  register_module("module", model);
  broadcast_state(model, groups_, where_);
  if (options_.broadcast_buffers) buffers_ = packed_buffers(model);
  for (const auto& named : model.named_buffers())
    if (options_.broadcast_buffers) buffer_places_.emplace_back(named, named.buffer->value);
  make_buckets();
}

// Before the first backward, only the user can say that parameters are left out; then the order of the
// gradients may change from step to step, and there is no order to learn.
void DistributedDataParallel::make_buckets() {
  gradients_ = std::make_unique<GradientBuckets>(trained_of(parameters_), groups_, options_.hook, where_);
  gradients_->arrange_in_reverse(options_.find_unused_parameters ? limits_of(options_) : Limits());
  is_rebuilt_ = options_.find_unused_parameters;
}

// If parameters were frozen or unfrozen since the buckets were made, makes others.
void DistributedDataParallel::follow_requires_grad() {
  if (const std::size_t now = model_.parameters().size(); now != parameters_.size())
    fail(Errc::invalid_argument,
         "rank {}: the model has {} now and had {} when DistributedDataParallel wrapped it; wrap it after "
         "the change",
         get_rank(), counted(now, "parameter"), parameters_.size());
  if (are_trained(gradients_->parameters(), parameters_) || !gradients_->is_told()) return;
  if (Recording::current())
    fail(Errc::unsupported,
         "rank {}: parameters were frozen or unfrozen since the last step, and a graph keeps which ones have "
         "a "
         "gradient: take another step before one is recorded",
         get_rank());
  agree_on_change("DistributedDataParallel", description(model_), group_, where_);
  make_buckets();
}

DistributedDataParallel::~DistributedDataParallel() = default;

Timeout DistributedDataParallel::exposed() const { return gradients_->exposed(); }

void DistributedDataParallel::begin_step() {
  if (syncs()) rebuild_if_due();
  if (!broadcasts_next_) return;
  for (const auto& [named, place] : buffer_places_)
    put_back(named.buffer->value, place, "buffer", named.name);
  for (Tensor& buffer : buffers_)
    broadcast(buffer, group_.global_rank(0), {.group = groups_.of(buffer.device())}, where_);
}

// With find_unused_parameters the host reads which parameters were used, which a graph cannot wait for.
bool DistributedDataParallel::is_in_graph() const {
  return !options_.find_unused_parameters && can_record(group_, where_);
}

// NCCL wants a collective to be in graphs on all ranks or on none. Where a rank takes another step now, this
// one fails.
void DistributedDataParallel::agree_on_graph() const {
  Tensor ranks = ones({1}, DType::i64, cpu);
  all_reduce(ranks, ReduceOp::sum, {.group = group_}, where_);
}

Tensor DistributedDataParallel::run_forward(const Tensor& input) {
  AbandonIfFailed guard{gradients_, group_, is_training() && syncs()};
  if (is_training() && syncs()) {
    follow_requires_grad();
    if (Recording::current() && !is_rebuilt_)
      fail(Errc::unsupported,
           "rank {}: the buckets of a DistributedDataParallel are arranged anew in its second step, and a "
           "graph "
           "keeps where they are: record a later step (GraphedStepOptions::warm_up of at least 2)",
           get_rank());
  }
  if (is_training() && (syncs() || broadcasts_next_)) {
    if (is_in_graph()) {
      Recording::aside([this] { agree_on_graph(); });
      begin_step();
    } else {
      Recording::between([this] { begin_step(); });
    }
  }
  const bool broadcasts_next = is_training() ? syncs() : broadcasts_next_;
  broadcasts_next_ = true;  // if the model throws
  bool needs_grad = wants_input_grad();
  Tensor output = forward_child(model_, input, needs_grad);
  broadcasts_next_ = broadcasts_next;
  guard.failed = false;
  if (is_training() && syncs() && steps_->forward(model_.forwards_kept())) give_up_step(group_);
  return output;
}

Tensor DistributedDataParallel::run_backward(const Tensor& grad_output) {
  if (defers_parameter_grads())
    fail(Errc::unsupported,
         "rank {}: a schedule that defers the gradients of parameters (zb-h1) ends backward() before a "
         "DistributedDataParallel can average them; use 1f1b, or fully_shard() the stages",
         get_rank());
  if (!syncs()) return model_.backward(grad_output);
  if (!gradients_->is_told())
    fail(Errc::invalid_argument,
         "rank {}: this model is already wrapped by another DistributedDataParallel, made after this one; "
         "wrap a "
         "model once, or call backward() of the last one only",
         get_rank());
  follow_requires_grad();
  steps_->backward();
  gradients_->begin(is_in_graph());
  AbandonIfFailed guard{gradients_, group_};
  const Tensor grad_input = model_.backward(grad_output);
  const auto missing = gradients_->missing();
  if (options_.find_unused_parameters) gradients_->give_up_on(missing);
  gradients_->finish();
  guard.failed = false;
  if (missing.empty() || options_.find_unused_parameters) return grad_input;
  std::vector<std::string> names;
  for (const std::size_t i : missing) names.push_back(gradients_->parameters()[i].name);
  fail(Errc::invalid_argument,
       "rank {}: backward is over and {} of {} parameters got no gradient, the other ranks wait for them: "
       "\"{}\". If that is intended, set .find_unused_parameters = true",
       get_rank(), missing.size(), gradients_->parameters().size(), fmt::join(names, "\", \""));
}

// Called after the first backward: from then on buckets follow the order in which gradients are ready.
void DistributedDataParallel::rebuild_if_due() {
  if (is_rebuilt_ || gradients_->ready_order().size() < gradients_->parameters().size()) return;
  gradients_->arrange(agreed(gradients_->ready_order(), group_, where_), limits_of(options_));
  is_rebuilt_ = true;
  log(LogLevel::info, "gradients of {} are sent in {}", counted(gradients_->parameters().size(), "parameter"),
      counted(gradients_->assignment().size(), "bucket"));
}

std::vector<std::vector<std::string>> DistributedDataParallel::buckets() const {
  std::vector<std::vector<std::string>> names;
  for (const auto& members : gradients_->assignment()) {
    names.emplace_back();
    for (const std::size_t i : members) names.back().push_back(gradients_->parameters()[i].name);
  }
  return names;
}

}  // namespace dist
