#include "dist/parallel/shard/fully_shard.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dist/core/fail.h"
#include "dist/mesh/placed.h"
#include "dist/parallel/replicas.h"
#include "dist/parallel/shard/sharded_unit.h"

namespace dist {

namespace {

// What else the ranks must agree about, in lines.
std::string description(const FullyShardOptions& options) {
  const auto text = [](std::optional<DType> dtype) { return dtype ? name(*dtype) : "none"; };
  const auto& [param, reduce, output, casts] = options.mixed_precision;
  return fmt::format(
      "reshard_after_forward {}\nparam_dtype {}\nreduce_dtype {}\noutput_dtype {}\ncast_forward_inputs {}\n"
      "the mesh ({})\n",
      options.reshard_after_forward ? *options.reshard_after_forward ? "true" : "false" : "left out",
      text(param), text(reduce), text(output), casts, options.mesh ? options.mesh.str() : "all ranks");
}

// A layer of a unit needs the whole parameters, which the unit's forward() gathers.
class InsideUnit final : public nn::ModuleHook {
 public:
  explicit InsideUnit(ShardedUnit& unit) : unit_(unit) {}
  Tensor before_forward(nn::Module& module, const Tensor& input) override {
    if (!unit_.values().are_gathered())
      fail(Errc::invalid_argument,
           "fully_shard: {} computes, but forward() of its unit, {}, was not called, which gathers the "
           "parameters: make units of modules whose forward() the model calls, or call unshard() before",
           module.str(), unit_.plan().name);
    return input;
  }

 private:
  ShardedUnit& unit_;  // a hook of a module above, which lives longer
};

void watch_layers(nn::Module& module, ShardedUnit& unit) {
  for (nn::Module* const each : module.modules()) {
    const auto is_its_own = [&](const nn::NamedParameter& named) {
      return named.name.find('.') == std::string::npos &&
             std::ranges::find(unit.plan().parameters, named.parameter, &nn::NamedParameter::parameter) !=
                 unit.plan().parameters.end();
    };
    if (each != &module && std::ranges::any_of(each->named_parameters(), is_its_own))
      each->add_outermost_hook(std::make_shared<InsideUnit>(unit));
  }
}

}  // namespace

void fully_shard(nn::Module& module, const FullyShardOptions& options, Caller at) {
  if (unit_of(module))
    fail(Errc::invalid_argument, "fully_shard: {} is already a unit; call it once for each module",
         module.str());
  std::set<const nn::Parameter*> taken;
  for (const ShardedUnit* const unit : units_below(module))
    for (const auto& named : unit->plan().parameters) taken.insert(named.parameter);
  std::vector<nn::NamedParameter> own = module.named_parameters();
  std::erase_if(own, [&](const auto& named) { return taken.contains(named.parameter); });
  check_start("fully_shard", own, description(options), options.mesh, at);
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
  watch_layers(module, *unit);
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
