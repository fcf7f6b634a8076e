#include "dist/parallel/shard/fully_shard.h"

#include <algorithm>
#include <set>
#include <utility>

#include "dist/core/fail.h"
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

}  // namespace

void fully_shard(nn::Module& module, const FullyShardOptions& options, Caller at) {
  if (unit_of(module))
    fail(Errc::invalid_argument, "fully_shard: {} is already a unit; call it once for each module",
         module.str());
  if (options.mesh && options.mesh.dim() > 2)
    fail(Errc::invalid_argument,
         "fully_shard: the mesh has {} axes; pass one (shard) or two (replicate, shard), such as "
         "mesh[\"fsdp\"]",
         options.mesh.dim());
  std::set<const nn::Parameter*> taken;
  for (const ShardedUnit* const unit : units_below(module))
    for (const auto& named : unit->parameters()) taken.insert(named.parameter);
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
  module.add_outermost_hook(std::make_shared<ShardedUnit>(module, std::move(own), options, at));
}

void set_requires_gradient_sync(nn::Module& module, bool on) {
  for (ShardedUnit* const unit : units_below(module)) unit->syncs = on;
}

void set_requires_all_reduce(nn::Module& module, bool on) {
  for (ShardedUnit* const unit : units_below(module)) unit->all_reduces = on;
}

void unshard(nn::Module& module) {
  for (ShardedUnit* const unit : units_below(module)) unit->unshard();
}

void reshard(nn::Module& module) {
  for (ShardedUnit* const unit : units_below(module)) unit->reshard();
}

namespace {

// Calls f(name, unit, index) for each parameter of the module, with a null unit if it is in none.
template <class F>
void for_each_parameter(nn::Module& module, const F& f) {
  const auto units = units_below(module);
  for (const auto& [name, parameter] : module.named_parameters()) {
    bool is_found = false;
    for (ShardedUnit* const unit : units) {
      const auto& members = unit->parameters();
      const auto at = std::ranges::find(members, parameter, &nn::NamedParameter::parameter);
      if (at == members.end()) continue;
      f(name, parameter, unit, static_cast<std::size_t>(at - members.begin()));
      is_found = true;
    }
    if (!is_found) f(name, parameter, static_cast<ShardedUnit*>(nullptr), std::size_t{0});
  }
}

// The whole of what each rank has a part of.
Tensor gathered(const Tensor& part, const ShardedUnit& unit, std::size_t i) {
  const FlatLayout alone({unit.layout().whole_shape(i)}, get_world_size(unit.group()));
  Tensor shard = zeros({alone.shard_elements()}, part.dtype(), part.device());
  if (part.numel() > 0) shard.narrow(0, part.numel()).copy_(part.view({part.numel()}));
  Tensor shards = empty({alone.all_elements()}, part.dtype(), part.device());
  all_gather_into_tensor(shards, shard, {.group = unit.group()});
  const Tensor flat = empty({alone.whole_elements()}, part.dtype(), part.device());
  alone.unpack(shards, flat);
  return alone.whole(flat, 0);
}

template <class Of>
nn::StateDict whole_state(nn::Module& module, const Of& of) {
  nn::StateDict state;
  for_each_parameter(
      module, [&](const std::string& name, nn::Parameter* parameter, ShardedUnit* unit, std::size_t i) {
        const Tensor& part = of(*parameter);
        state.push_back({name, unit ? gathered(part, *unit, i) : part});
      });
  return state;
}

}  // namespace

std::vector<ShardedParameter> sharded_parameters(nn::Module& module) {
  std::vector<ShardedParameter> all;
  for_each_parameter(
      module, [&](const std::string& name, nn::Parameter* parameter, ShardedUnit* unit, std::size_t i) {
        if (!unit) return;
        all.push_back({name, parameter, unit->layout().whole_shape(i),
                       unit->layout().first_row(i, get_rank(unit->group())), unit->options().mesh});
      });
  return all;
}

nn::StateDict unsharded_state_dict(nn::Module& module) {
  reshard(module);
  nn::StateDict state = whole_state(module, [](nn::Parameter& p) -> Tensor& { return p.value; });
  for (const auto& [name, buffer] : module.named_buffers()) state.push_back({name, buffer->value});
  return state;
}

nn::StateDict unsharded_gradients(nn::Module& module) {
  return whole_state(module, [](nn::Parameter& p) -> Tensor& { return p.grad; });
}

}  // namespace dist
