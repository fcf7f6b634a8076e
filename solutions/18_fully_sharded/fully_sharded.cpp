// Lab 18, the solution. NOTES.md explains it.
#include "fully_sharded.h"

#include <algorithm>

namespace lab {

using dist::Tensor;

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t most = (rows + n - 1) / n;
  const std::int64_t first = std::min(rank * most, rows);
  return {first, std::min(most, rows - first)};
}

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), n);
  const std::int64_t shard = part_size(parameter.shape());
  Tensor all = dist::zeros({n * shard}, parameter.dtype());
  Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);

  Tensor own = parameter.narrow(rows.first, rows.count);
  Tensor place = mine.narrow(0, own.numel());
  if (rows.count > 0) update(own, place.view(own.shape()));

  place.copy_(flat(own));
  dist::all_gather_into_tensor(all, mine);
  flat(parameter).copy_(all.narrow(0, parameter.numel()));
}

Unit make_unit(const Tensors& parameters) {
  Unit unit;
  std::int64_t shard = 0;
  for (const Tensor& parameter : parameters) {
    unit.shapes.push_back(parameter.shape());
    shard += part_size(parameter.shape());
  }
  unit.shard = dist::zeros({shard}, dist::DType::f64);
  unit.gradient = dist::zeros({shard}, dist::DType::f64);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Part own = parts_of(unit, i)[static_cast<std::size_t>(dist::get_rank())];
    unit.shard.narrow(own.in_shard, own.count).copy_(flat(parameters[i]).narrow(own.in_parameter, own.count));
  }
  return unit;
}

Gather start_gather(const Unit& unit) {
  Gather gather{dist::empty({dist::get_world_size() * unit.shard.numel()}, dist::DType::f64)};
  gather.work = dist::all_gather_into_tensor(gather.shards, unit.shard, {.async_op = true});
  return gather;
}

Tensors finish_gather(const Unit& unit, Gather& gather) {
  gather.work.wait();
  Tensors parameters;
  for (std::size_t i = 0; i < unit.shapes.size(); ++i) {
    parameters.push_back(dist::empty(unit.shapes[i], dist::DType::f64));
    Tensor whole = flat(parameters.back());
    for (const Part& part : parts_of(unit, i)) {
      const std::int64_t from = part.rank * unit.shard.numel() + part.in_shard;
      whole.narrow(part.in_parameter, part.count).copy_(gather.shards.narrow(from, part.count));
    }
  }
  gather.shards = {};
  return parameters;
}

Reduction start_reduction(const Unit& unit, const Tensors& gradients) {
  const std::int64_t shard = unit.shard.numel();
  Reduction reduction{dist::zeros({dist::get_world_size() * shard}, dist::DType::f64),
                      dist::empty({shard}, dist::DType::f64)};
  for (std::size_t i = 0; i < unit.shapes.size(); ++i) {
    const Tensor whole = flat(gradients[i]);
    for (const Part& part : parts_of(unit, i))
      reduction.shards.narrow(part.rank * shard + part.in_shard, part.count)
          .copy_(whole.narrow(part.in_parameter, part.count));
  }
  reduction.work =
      dist::reduce_scatter_tensor(reduction.mean, reduction.shards, dist::ReduceOp::avg, {.async_op = true});
  return reduction;
}

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean);
  reduction = {};
}

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    output = compute.run_forward(i, finish_gather(units[i], gather), output);
  }
  return output;
}

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  Gather next = start_gather(units.front());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i + 1 < units.size()) next = start_gather(units[i + 1]);
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  Reduction last;  // of unit i + 1, while unit i computes
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    if (i + 1 < units.size()) finish_reduction(units[i + 1], last);
    last = start_reduction(units[i], gradients.parameters);
    grad = gradients.input;
  }
  finish_reduction(units.front(), last);
}

}  // namespace lab
