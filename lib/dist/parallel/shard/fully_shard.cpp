#include "dist/parallel/shard/fully_shard.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dist/core/fail.h"
#include "dist/mesh/placed.h"
#include "dist/parallel/shard/sharded_unit.h"

namespace dist {

void fully_shard(nn::Module& module, const FullyShardOptions& options, Caller at) {
  if (unit_of(module))
    fail(Errc::invalid_argument, "fully_shard: {} is already a unit; call it once for each module",
         module.str());
  std::set<const nn::Parameter*> taken;
  for (const ShardedUnit* const unit : units_below(module))
    for (const auto& named : unit->plan().parameters) taken.insert(named.parameter);
  std::vector<nn::NamedParameter> own = module.named_parameters();
  std::erase_if(own, [&](const auto& named) { return taken.contains(named.parameter); });
  for (nn::Module* const each : module.modules())
    for (const auto& [name, parameter] : each->tied_parameters())
      if (std::ranges::find(own, parameter, &nn::NamedParameter::parameter) == own.end())
        fail(Errc::invalid_argument,
             "fully_shard: the \"{}\" of {} is tied to a parameter of another unit, whose rows would be "
             "gathered "
             "without it; leave both modules to the unit that contains them",
             name, each->str());
  const auto unit = std::make_shared<ShardedUnit>(module, std::move(own), options, at);
  unit->listen();
  module.add_outermost_hook(unit);
}

void set_requires_gradient_sync(nn::Module& module, bool on) {
  for (ShardedUnit* const unit : units_below(module)) unit->gradients().syncs = on;
}

void set_requires_all_reduce(nn::Module& module, bool on) {
  for (ShardedUnit* const unit : units_below(module)) unit->gradients().all_reduces = on;
}

void unshard(nn::Module& module) {
  for (ShardedUnit* const unit : units_below(module)) unit->values().gather();
}

void reshard(nn::Module& module) {
  for (ShardedUnit* const unit : units_below(module)) unit->values().release();
}

namespace {

Tensor whole_of(const nn::Parameter& parameter, const Tensor& part) {
  const Placed* const placed = placed_of(parameter);
  return placed ? placed->full_tensor(part) : part;
}

}  // namespace

std::vector<ShardedParameter> sharded_parameters(nn::Module& module) {
  std::vector<ShardedParameter> all;
  for (const auto& [name, parameter] : module.named_parameters()) {
    parameter->notify(nn::Parameter::Event::settle);
    for (const ShardedUnit* const unit : units_below(module)) {
      const auto& members = unit->plan().parameters;
      const auto at = std::ranges::find(members, parameter, &nn::NamedParameter::parameter);
      if (at == members.end()) continue;
      const auto i = static_cast<std::size_t>(at - members.begin());
      const FlatLayout& layout = unit->plan().layout;
      all.push_back({name, parameter, layout.whole_shape(i), layout.first_row(i, unit->plan().rank)});
    }
  }
  return all;
}

nn::StateDict unsharded_state_dict(nn::Module& module) {
  nn::StateDict state;
  for (const auto& [name, parameter] : module.named_parameters()) {
    parameter->notify(nn::Parameter::Event::settle);
    state.push_back({name, whole_of(*parameter, parameter->value)});
  }
  for (const auto& [name, buffer] : module.named_buffers()) state.push_back({name, buffer->value});
  return state;
}

nn::StateDict unsharded_gradients(nn::Module& module) {
  nn::StateDict state;
  for (const auto& [name, parameter] : module.named_parameters())
    if (parameter->grad.is_defined()) state.push_back({name, whole_of(*parameter, parameter->grad)});
  return state;
}

}  // namespace dist
