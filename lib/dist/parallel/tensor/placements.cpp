// What is known about each parameter (the record), parts and wholes of one tensor, and what is done for all
// parameters of a module.
#include "dist/parallel/tensor/placements.h"

#include <algorithm>
#include <utility>

#include "dist/core/axes.h"
#include "dist/core/fail.h"
#include "dist/core/view.h"
#include "dist/parallel/packed.h"
#include "dist/parallel/tensor/record.h"

namespace dist {

SplitParameter* TensorParallelRecord::find(const nn::Parameter& parameter) {
  const auto at = std::ranges::find(parameters, &parameter, &SplitParameter::parameter);
  return at == parameters.end() ? nullptr : &*at;
}

std::shared_ptr<TensorParallelRecord> record_of(const nn::Module& module) {
  for (const auto& hook : module.hooks())
    if (auto record = std::dynamic_pointer_cast<TensorParallelRecord>(hook)) return record;
  return nullptr;
}

namespace {

std::shared_ptr<TensorParallelRecord> required_record(std::string_view call, const nn::Module& module,
                                                      CallSite at) {
  if (auto record = record_of(module)) return record;
  fail(Errc::invalid_argument, "{} at {}: {} is not tensor parallel; call parallelize_module() for it first",
       call, at.str(), module.str());
}

// The piece of part `size` that a rank has.
std::int64_t begin_of(std::int64_t size, int rank, int ranks) { return torch_chunk_begin(size, rank, ranks); }
std::int64_t size_of(std::int64_t size, int rank, int ranks) {
  return begin_of(size, rank + 1, ranks) - begin_of(size, rank, ranks);
}

}  // namespace

Tensor part_of(const Tensor& whole, const ParameterPlacement& placement, int rank) {
  const Shard* const shard = std::get_if<Shard>(&placement.placement);
  if (!shard) return whole.clone();
  const int ranks = placement.mesh.size();
  std::vector<Tensor> pieces;
  std::int64_t offset = 0;
  for (const std::int64_t part : placement.parts) {
    pieces.push_back(
        narrow(whole, shard->axis, offset + begin_of(part, rank, ranks), size_of(part, rank, ranks)));
    offset += part;
  }
  return cat(pieces, shard->axis);
}

Tensor whole_of(const Tensor& part, const ParameterPlacement& placement, Caller at) {
  const Shard* const shard = std::get_if<Shard>(&placement.placement);
  if (!shard) return part;
  const int ranks = placement.mesh.size();
  const auto axis = static_cast<std::size_t>(shard->axis);
  std::vector<Tensor> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Shape shape = placement.shape;
    shape[axis] = 0;
    for (const std::int64_t size : placement.parts) shape[axis] += size_of(size, rank, ranks);
    all.push_back(empty(std::move(shape), part.dtype(), part.device()));
  }
  all_gather(all, part, {.group = placement.mesh.get_group(at)}, at);
  std::vector<Tensor> pieces;
  std::vector<std::int64_t> had(all.size());  // of each rank's tensor
  for (const std::int64_t size : placement.parts)
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const std::int64_t length = size_of(size, rank, ranks);
      pieces.push_back(narrow(all[r], shard->axis, had[r], length));
      had[r] += length;
    }
  return cat(pieces, shard->axis);
}

std::vector<ParameterPlacement> placements_of(nn::Module& module, Caller at) {
  const auto record = required_record("placements_of", module, at);
  std::vector<ParameterPlacement> all;
  for (const auto& [name, parameter] : module.named_parameters()) {
    const SplitParameter* const split = record->find(*parameter);
    all.push_back(
        split ? split->placement
              : ParameterPlacement{.name = name, .mesh = record->mesh, .shape = parameter->value.shape()});
  }
  return all;
}

void finish_gradients(nn::Module& module, Caller at) {
  const auto record = required_record("finish_gradients", module, at);
  std::vector<Tensor> grads;
  for (const auto& [parameter, placement] : record->parameters)
    if (std::holds_alternative<Partial>(placement.grad_placement)) grads.push_back(parameter->grad);
  all_reduce_packed(grads, ReduceOp::sum, record->mesh.get_group(at), at);
}

// A parameter under several names is gathered once.
nn::StateDict full_state_dict(nn::Module& module, Caller at) {
  const auto record = required_record("full_state_dict", module, at);
  nn::StateDict parts = module.state_dict(), whole;
  const auto parameters = module.named_parameters();
  std::vector<Tensor> gathered(parameters.size());
  for (auto& [name, tensor] : parts) {
    auto same = std::ranges::find(parameters, name, &nn::NamedParameter::name);
    if (same == parameters.end())  // another name, or a buffer
      same = std::ranges::find_if(parameters, [&tensor = tensor](const nn::NamedParameter& other) {
        return other.parameter->value.raw() == tensor.raw() &&
               other.parameter->value.shape() == tensor.shape();
      });
    const SplitParameter* const split = same == parameters.end() ? nullptr : record->find(*same->parameter);
    if (!split) {
      whole.push_back({name, tensor});
      continue;
    }
    Tensor& known = gathered[static_cast<std::size_t>(same - parameters.begin())];
    if (!known.is_defined()) known = whole_of(tensor, split->placement, at);
    whole.push_back({name, known});
  }
  return whole;
}

nn::StateDict full_gradients(nn::Module& module, Caller at) {
  nn::StateDict whole;
  const auto placements = placements_of(module, at);
  const auto parameters = module.named_parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    whole.push_back({parameters[i].name, whole_of(parameters[i].parameter->grad, placements[i], at)});
  return whole;
}

}  // namespace dist
