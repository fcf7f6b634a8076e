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

}  // namespace dist
