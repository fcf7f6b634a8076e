// ShardedUnit: when values are gathered and given up, and gradients collected and reduced: the hooks.
#include "dist/parallel/shard/sharded_unit.h"

#include <utility>

#include "dist/core/fail.h"
#include "dist/group/call.h"
#include "dist/group/check_same.h"
#include "dist/group/control.h"
#include "dist/parallel/replicas.h"

namespace dist {

namespace {

Tensor in_dtype(const Tensor& t, DType dtype) {
  return t.is_defined() && is_floating_point(t.dtype()) ? t.to(dtype) : t;
}

}  // namespace

ShardedUnit* unit_of(const nn::Module& module) {
  for (const auto& hook : module.hooks())
    if (auto* const unit = dynamic_cast<ShardedUnit*>(hook.get())) return unit;
  return nullptr;
}

std::vector<ShardedUnit*> units_below(nn::Module& module) {
  std::vector<ShardedUnit*> units;
  for (const nn::Module* const each : module.modules())
    if (ShardedUnit* const unit = unit_of(*each)) units.push_back(unit);
  return units;
}

ShardedUnit::ShardedUnit(nn::Module& module, std::vector<nn::NamedParameter> parameters,
                         const FullyShardOptions& options, CallSite where)
    : options_(options),
      plan_(module, std::move(parameters), options, where),
      number_(number_along(plan_.group, plan_.where)),
      values_(plan_),
      gradients_(plan_),
      passes_(std::make_shared<UnitPasses>(*this)) {
  for (const auto& named : plan_.parameters) trained_.push_back(named.parameter->requires_grad());
  passes_->add(*this);
  for (ShardedUnit* const unit : units_below(module)) {
    unit->passes_->remove(*unit);
    unit->passes_ = passes_;
    passes_->add(*unit);
  }
}

void ShardedUnit::listen() {
  using Event = nn::Parameter::Event;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    const auto call = [unit = weak_from_this(), i](auto f) {
      return [unit, i, f] {
        if (const auto alive = unit.lock()) f(*alive, i);
      };
    };
    nn::Parameter& parameter = *plan_.parameters[i].parameter;
    parameter.listen(Event::settle, "fully_shard", this,
                     call([](ShardedUnit& unit, std::size_t k) { unit.settle(k); }));
    parameter.listen(Event::cleared, "fully_shard", this,
                     call([](ShardedUnit& unit, std::size_t k) { unit.gradients_.forget(k); }));
  }
}

void ShardedUnit::settle(std::size_t parameter) {
  if (passes_->pass() != Pass::none && values_.are_gathered())
    fail(Errc::invalid_argument,
         "fully_shard: \"{}\" of {} is gathered for the forward() or backward() that is under way; call "
         "state_dict(), to() or step() before or after it",
         plan_.parameters[parameter].name, plan_.name);
  values_.drop_gather();
  gradients_.arrange();
  if (!values_.are_gathered()) return;
  values_.release();
  gradients_.take_over();
}

bool ShardedUnit::casts_inputs() const {
  return options_.mixed_precision.param_dtype && options_.mixed_precision.cast_forward_inputs;
}

bool ShardedUnit::gives_up_after_forward(const nn::Module& module) const {
  return !module.is_training() || options_.reshard_after_forward.value_or(!passes_->is_root(*this));
}

void ShardedUnit::gather_and_prefetch() {
  if (!passes_->order().arrives(*this)) compare_with_other_ranks();
  values_.gather();
  if (ShardedUnit* const next = passes_->order().next()) next->values_.start_gather();
}

// Ranks that compute different units would gather half of one and half of the other, if these are of one
// size.
void ShardedUnit::compare_with_other_ranks() const {
  if (plan_.parameters.empty()) return;
  const std::string call =
      fmt::format("{} of unit {}, {}", passes_->pass() == Pass::forward ? "forward()" : "backward()", number_,
                  plan_.name);
  for (const PlacedAxis& axis : plan_.axes) {
    const GroupInUse group(axis.group, "fully_shard", plan_.where);
    exchange(*group, {"fully_shard", plan_.where, group->identity.timeout},
             {call, plan_.where.str(), {}, plan_.where});
  }
}

// Ranks that train different parameters would reduce different gradients, which may be of one size.
void ShardedUnit::agree_on_trained() {
  std::vector<bool> now;
  for (const auto& named : plan_.parameters) now.push_back(named.parameter->requires_grad());
  if (trained_ == now) return;
  for (const PlacedAxis& axis : plan_.axes)
    agree_on_change("fully_shard", description(plan_.parameters), axis.group, plan_.where);
  trained_ = std::move(now);
}

// In a backward pass a forward() is a recomputation: the backward() of the unit follows soon.
Tensor ShardedUnit::before_forward(nn::Module& module, const Tensor& input) {
  passes_->begin(*this, Pass::forward);
  if (module.is_training()) agree_on_trained();
  const bool is_again = passes_->pass() == Pass::backward;
  if (!is_again || !is_held_ || !values_.are_gathered()) gather_and_prefetch();
  is_held_ = is_again;
  given_dtype_ = input.dtype();
  return casts_inputs() ? in_dtype(input, plan_.computed) : input;
}

Tensor ShardedUnit::after_forward(nn::Module& module, const Tensor& output) {
  if (!is_held_ && gives_up_after_forward(module)) values_.release();
  passes_->end(*this);
  if (module.is_training() && passes_->is_root(*this) && steps_.forward(module.forwards_kept()))
    give_up_step();
  made_dtype_ = output.dtype();
  return in_dtype(output, options_.mixed_precision.output_dtype.value_or(made_dtype_));
}

Tensor ShardedUnit::before_backward(nn::Module&, const Tensor& grad_output) {
  passes_->begin(*this, Pass::backward);
  steps_.backward();
  const bool was_held = std::exchange(is_held_, false);
  if (!was_held || !values_.are_gathered()) gather_and_prefetch();
  gradients_.attach();
  return options_.mixed_precision.output_dtype ? in_dtype(grad_output, made_dtype_) : grad_output;
}

// If gradients are deferred, they are still to come; those that are there already wait for them.
Tensor ShardedUnit::after_backward(nn::Module& module, const Tensor& grad_input) {
  const bool is_last = !module.defers_parameter_grads();
  values_.release();
  gradients_.detach();
  is_last ? gradients_.reduce(passes_->reductions) : gradients_.keep();
  passes_->end(*this, is_last);
  return casts_inputs() ? in_dtype(grad_input, given_dtype_) : grad_input;
}

void ShardedUnit::before_parameter_grads(nn::Module&) {
  passes_->begin(*this, Pass::parameter_grads);
  gradients_.attach();
}

void ShardedUnit::after_parameter_grads(nn::Module&) {
  gradients_.detach();
  gradients_.reduce(passes_->reductions);
  passes_->end(*this);
}

void ShardedUnit::give_up_step() const noexcept {
  for (const PlacedAxis& axis : plan_.axes) dist::give_up_step(axis.group);
}

void ShardedUnit::abandon(nn::Module&) noexcept {
  steps_.abandon();
  values_.abandon();
  gradients_.abandon(passes_->reductions);
  is_held_ = false;
  passes_->abandon(*this);
}

}  // namespace dist
