// Wrong answers to lab 18, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "fully_sharded.h"

//// averages_in_the_gradient
// Misconception: after the step no rank needs the gradient, so its memory may hold the mean of the own rows.
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: none

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  right_zero_step(parameter, gradient, [&](Tensor& rows, const Tensor& mean) {
    update(rows, mean);
    const Rows own = rows_of(parameter.size(0), dist::get_rank(), dist::get_world_size());
    gradient.narrow(own.first, own.count).copy_(mean);
  });
}

//// balances_the_rows
// Misconception: shards differ by at most one row, as with chunk().
// Replaces: rows_of
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: balanced_rows

namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#include SOLUTION

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t first = rank * rows / n;
  return {first, (rank + 1) * rows / n - first};
}

//// begins_after_the_end
// Misconception: a rank without rows has none of them, wherever it begins.
// Replaces: rows_of
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: begins_after_the_end

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t most = (rows + n - 1) / n, first = rank * most;
  return {first, std::clamp<std::int64_t>(rows - first, 0, most)};
}

//// divides_the_mean
// Misconception: a reduce-scatter adds, so its result must be divided by n. (AVG has done so already.)
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: divides_twice

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), n);
  const std::int64_t shard = part_size(parameter.shape());
  Tensor all = dist::zeros({n * shard}, parameter.dtype());
  Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
  mine.div_(n);
  Tensor own = parameter.narrow(rows.first, rows.count);
  Tensor place = mine.narrow(0, own.numel());
  if (rows.count > 0) update(own, place.view(own.shape()));
  place.copy_(flat(own));
  dist::all_gather_into_tensor(all, mine);
  flat(parameter).copy_(all.narrow(0, parameter.numel()));
}

//// gathers_gradients_and_updates_all
// Misconception: every rank needs all parameters, so every rank updates all of them.
// Replaces: zero_step
// Killed by: Part1Zero.own_rows_only
// Diagnosis: updates_all_rows

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const std::int64_t shard = part_size(parameter.shape());
  Tensor all = dist::zeros({n * shard}, parameter.dtype());
  Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
  dist::all_gather_into_tensor(all, mine);
  update(parameter, all.narrow(0, parameter.numel()).view(parameter.shape()));
}

//// gathers_the_gradients_too
// Misconception: the ranks exchange what they have: the updated rows and the mean gradients.
// Replaces: zero_step
// Killed by: Part1Zero.one_reduce_scatter_one_all_gather
// Diagnosis: sends_more_than_its_rows

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
  Tensor both = dist::zeros({2 * shard}, parameter.dtype());
  both.narrow(0, shard).copy_(mine);
  both.narrow(shard, own.numel()).copy_(flat(own));
  Tensor everything = dist::zeros({2 * n * shard}, parameter.dtype());
  dist::all_gather_into_tensor(everything, both);
  for (int rank = 0; rank < n; ++rank)
    all.narrow(rank * shard, shard).copy_(everything.narrow((2 * rank + 1) * shard, shard));
  flat(parameter).copy_(all.narrow(0, parameter.numel()));
}

//// keeps_its_buffers
// Misconception: buffers may be made once and used in every step. (Parameters have different sizes.)
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: none

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), n);
  const std::int64_t shard = part_size(parameter.shape());
  static Tensor all = dist::zeros({n * shard}, parameter.dtype());
  static Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
  Tensor own = parameter.narrow(rows.first, rows.count);
  Tensor place = mine.narrow(0, own.numel());
  if (rows.count > 0) update(own, place.view(own.shape()));
  place.copy_(flat(own));
  dist::all_gather_into_tensor(all, mine);
  flat(parameter).copy_(all.narrow(0, parameter.numel()));
}

//// leaves_without_rows
// Misconception: a rank without rows has nothing to do in a step.
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: ranks_call_different_collectives

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), dist::get_world_size());
  if (rows.count > 0) right_zero_step(parameter, gradient, update);
}

//// loses_the_last_rows
// Misconception: the rows are divided by n, and what the division leaves is too little to matter.
// Replaces: rows_of
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: loses_the_last_rows

namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#include SOLUTION

Rows rows_of(std::int64_t rows, int rank, int n) { return {rank * (rows / n), rows / n}; }

//// parameters_are_matrices
// Misconception: a parameter is a matrix or a vector, so a row has size(1) elements or one.
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: none

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), n);
  const std::int64_t row = parameter.dim() > 1 ? parameter.size(1) : 1;
  const std::int64_t shard = rows_of(parameter.size(0), 0, n).count * row;
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

//// returns_another_tensor
// Misconception: a step gives new values, so it gives a new tensor.
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: the_parameter_is_another_tensor

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const Tensor before = parameter.clone();
  right_zero_step(parameter, gradient, update);
  Tensor after = parameter.clone();
  parameter.copy_(before);
  parameter = after;
}

//// rows_beyond_the_end
// Misconception: every rank has ceil(rows / n) rows, the last one, too.
// Replaces: rows_of
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: more_rows_than_there_are

namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#include SOLUTION

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t most = (rows + n - 1) / n;
  return {rank * most, most};
}

//// rows_in_32_bits
// Misconception: the number of rows fits into an int, as that of ranks does.
// Replaces: rows_of
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: rows_in_32_bits

namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#include SOLUTION

Rows rows_of(std::int64_t rows, int rank, int n) {
  const auto all = static_cast<int>(rows);
  const int most = (all + n - 1) / n, first = std::min(rank * most, all);
  return {first, std::min(most, all - first)};
}

//// update_gets_a_copy
// Misconception: the optimizer is given values, so a copy of the rows does.
// Replaces: zero_step
// Killed by: Part1Zero.own_rows_only
// Diagnosis: update_gets_a_copy

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  right_zero_step(parameter, gradient, [&](Tensor& rows, const Tensor& of_rows) {
    Tensor copy = rows.clone();
    update(copy, of_rows);
    rows.copy_(copy);
  });
}

//// updates_and_keeps
// Misconception: each rank updates its rows, and that is all: it needs no others.
// Replaces: zero_step
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: forgets_to_gather

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
}

//// updates_no_rows
// Misconception: every rank calls its optimizer once per step; a rank without rows updates an empty tensor.
// Replaces: zero_step
// Killed by: Part1Zero.own_rows_only
// Diagnosis: none

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  right_zero_step(parameter, gradient, update);
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), dist::get_world_size());
  if (rows.count > 0) return;
  Tensor none = parameter.narrow(rows.first, 0);
  update(none, none.clone());
}

//// all_reduces_the_gradients
// Misconception: gradients are averaged by an all_reduce; each rank then takes its shard.
// Replaces: start_reduction
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: all_reduces

Reduction start_reduction(const Unit& unit, const Tensors& gradients) {
  Reduction reduction = right_start_reduction(unit, gradients);
  reduction.work.wait();
  dist::all_reduce(reduction.shards, dist::ReduceOp::avg);
  const std::int64_t shard = unit.shard.numel();
  reduction.mean.copy_(reduction.shards.narrow(dist::get_rank() * shard, shard));
  reduction.work = {};
  return reduction;
}

//// checks_the_units
// Misconception: ranks whose parameters differ would train nonsense, so a unit is gathered once and compared
// when it is made.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  Gather gather = start_gather(unit);
  finish_gather(unit, gather);
  return unit;
}

//// cuts_what_was_gathered
// Misconception: what is gathered is the parameters, one after the other.
// Replaces: finish_gather
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: shards_are_not_parameters

Tensors finish_gather(const Unit& unit, Gather& gather) {
  gather.work.wait();
  Tensors parameters;
  std::int64_t at = 0;
  for (const dist::Shape& shape : unit.shapes) {
    const std::int64_t count = shape[0] * row_size(shape);
    parameters.push_back(gather.shards.narrow(at, count).clone().view(shape));
    at += count;
  }
  gather.shards = {};
  return parameters;
}

//// divides_once_more
// Misconception: the sum over the ranks must be divided by their number. (AVG has done so already.)
// Replaces: finish_reduction
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: divides_twice

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean, 1.0 / dist::get_world_size());
  reduction = {};
}

//// gathers_in_floats
// Misconception: a gather may have half the bytes, as in mixed precision.
// Replaces: finish_gather
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: none

Tensors finish_gather(const Unit& unit, Gather& gather) {
  Tensors parameters = right_finish_gather(unit, gather);
  for (Tensor& parameter : parameters) parameter = parameter.to(dist::DType::f32).to(dist::DType::f64);
  return parameters;
}

//// gives_nothing_up
// Misconception: what was gathered may stay where it is: it is in the way of nothing.
// Replaces: finish_gather
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: keeps_the_shards

Tensors finish_gather(const Unit& unit, Gather& gather) {
  const Tensor kept = gather.shards;
  Tensors parameters = right_finish_gather(unit, gather);
  gather.shards = kept;
  return parameters;
}

//// gradient_of_parameters
// Misconception: a unit begins with a gradient like its shard, which the first backward replaces.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  unit.gradient = unit.shard.clone();
  return unit;
}

//// keeps_a_view
// Misconception: where a rank's rows are in one piece already, a view of them is a shard.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  const Tensor& only = parameters.front();
  const Rows own = rows_of(only.size(0), dist::get_rank(), dist::get_world_size());
  if (parameters.size() == 1 && own.count * dist::get_world_size() == only.size(0))
    unit.shard = flat(only.narrow(own.first, own.count));
  return unit;
}

//// keeps_a_view_of_all_shards
// Misconception: a part of a tensor takes the memory of this part.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: keeps_everything

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  const std::int64_t shard = unit.shard.numel();
  const Tensor all = dist::zeros({dist::get_world_size() * shard}, dist::DType::f64);
  Tensor own = all.narrow(dist::get_rank() * shard, shard);
  own.copy_(unit.shard);
  unit.shard = own;
  return unit;
}

//// keeps_the_reduction
// Misconception: what was reduced may stay where it is until the next reduction.
// Replaces: finish_reduction
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: none

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean);
}

//// makes_units_of_floats
// Misconception: a parameter has no more digits than a float.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none

Unit make_unit(const Tensors& parameters) {
  Tensors rounded;
  for (const Tensor& parameter : parameters)
    rounded.push_back(parameter.to(dist::DType::f32).to(dist::DType::f64));
  return right_make_unit(rounded);
}

//// one_buffer_for_all_gathers
// Misconception: units of one size are gathered one after the other, so one buffer is enough.
// Replaces: start_gather
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: touched_before_waiting

Gather start_gather(const Unit& unit) {
  static Tensor kept;
  const std::int64_t all = dist::get_world_size() * unit.shard.numel();
  if (!kept.is_defined() || kept.numel() != all) kept = dist::empty({all}, dist::DType::f64);
  Gather gather{kept};
  gather.work = dist::all_gather_into_tensor(gather.shards, unit.shard, {.async_op = true});
  return gather;
}

//// one_gather_per_parameter
// Misconception: every parameter is gathered by itself.
// Replaces: start_gather
// Killed by: Part2Unit.one_collective_for_a_unit
// Diagnosis: a_collective_for_each_parameter

Gather start_gather(const Unit& unit) {
  const int n = dist::get_world_size();
  const std::int64_t shard = unit.shard.numel();
  Gather gather{dist::empty({n * shard}, dist::DType::f64)};
  std::int64_t at = 0;
  for (const dist::Shape& shape : unit.shapes) {
    const std::int64_t count = part_size(shape);
    Tensor all = dist::empty({n * count}, dist::DType::f64);
    dist::all_gather_into_tensor(all, unit.shard.narrow(at, count));
    for (int rank = 0; rank < n; ++rank)
      gather.shards.narrow(rank * shard + at, count).copy_(all.narrow(rank * count, count));
    at += count;
  }
  return gather;
}

//// overwrites_the_gradient
// Misconception: a new gradient replaces the old one.
// Replaces: finish_reduction
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: overwrites_the_gradient

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.copy_(reduction.mean);
  reduction = {};
}

//// shards_are_whole
// Misconception: a shard is the whole unit, of which the rank uses its rows.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: keeps_everything

Unit make_unit(const Tensors& parameters) {
  Unit unit;
  std::int64_t count = 0, at = 0;
  for (const Tensor& parameter : parameters) count += parameter.numel();
  unit.shard = dist::zeros({count}, dist::DType::f64);
  unit.gradient = dist::zeros({count}, dist::DType::f64);
  for (const Tensor& parameter : parameters) {
    unit.shapes.push_back(parameter.shape());
    unit.shard.narrow(at, parameter.numel()).copy_(flat(parameter));
    at += parameter.numel();
  }
  return unit;
}

//// shares_when_alone
// Misconception: one rank has all rows, so nothing has to be copied.
// Replaces: make_unit
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  if (dist::get_world_size() == 1 && parameters.size() == 1) unit.shard = flat(parameters[0]);
  return unit;
}

//// sums_the_gradients
// Misconception: the gradients of all ranks belong together, so they are added.
// Replaces: finish_reduction
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: sums_without_averaging

void finish_reduction(Unit& unit, Reduction& reduction) {
  reduction.work.wait();
  unit.gradient.add_(reduction.mean, dist::get_world_size());
  reduction = {};
}

//// unpacks_before_waiting
// Misconception: a collective that was started has its result.
// Replaces: finish_gather
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: touched_before_waiting

Tensors finish_gather(const Unit& unit, Gather& gather) {
  Gather early{gather.shards};
  Tensors parameters = right_finish_gather(unit, early);
  gather.work.wait();
  gather.shards = {};
  return parameters;
}

//// backward_begins_with_unit_0
// Misconception: both passes go through the units in their order.
// Replaces: backward
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: backward_in_the_order_of_forward

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

//// backward_reduces_into_the_gradient
// Misconception: the mean may be written straight into unit.gradient, which saves a tensor.
// Replaces: backward
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: overwrites_the_gradient

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    reduction.work.wait();
    units[i].gradient.copy_(reduction.mean);
    grad = gradients.input;
  }
}

//// every_unit_has_the_input
// Misconception: all units compute from the input of the model.
// Replaces: forward
// Killed by: Part3Passes.forward_as_on_one_rank
// Diagnosis: none

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    output = compute.run_forward(i, finish_gather(units[i], gather), input);
  }
  return output;
}

//// every_unit_has_the_last_gradient
// Misconception: all units have the gradient of the model's output.
// Replaces: backward
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: none

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad_output);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
  }
}

//// frees_too_early
// Misconception: forward has gathered the parameters, so backward need not do it again.
// Replaces: backward
// Killed by: Part3Passes.backward_as_on_one_rank
// Diagnosis: frees_before_backward_needs_it

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    const Gradients gradients = compute.run_backward(i, {units[i].shard}, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

//// gathers_twice_for_backward
// Misconception: backward needs the parameters twice: for the gradient of the input and for that of the
// weight.
// Replaces: backward
// Killed by: Part3Passes.one_collective_per_unit
// Diagnosis: gathers_too_often

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather once = start_gather(units[i]);
    finish_gather(units[i], once);
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

//// holds_the_last_unit
// Misconception: a variable before the loop is declared once, which is tidier. (It holds the last unit while
// the next one comes.)
// Replaces: forward
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_the_parameters

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  Tensors parameters;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    parameters = finish_gather(units[i], gather);
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

//// keeps_finished_works
// Misconception: a finished Work costs nothing, so all of them stay in a list. (Each holds its tensors.)
// Replaces: forward
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_whole_units_outside_of_tensors

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  std::vector<dist::Work> works;
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    works.push_back(gather.work);
    output = compute.run_forward(i, finish_gather(units[i], gather), output);
  }
  return output;
}

//// keeps_full_gradients
// Misconception: gradients are reduced when backward is over.
// Replaces: backward
// Killed by: Part3Passes.backward_holds_one_unit
// Diagnosis: keeps_full_gradients

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  std::vector<Tensors> all(units.size());
  for (std::size_t i = units.size(); i-- > 0;) {
    Gather gather = start_gather(units[i]);
    const Gradients gradients = compute.run_backward(i, finish_gather(units[i], gather), grad);
    all[i] = gradients.parameters;
    grad = gradients.input;
  }
  for (std::size_t i = units.size(); i-- > 0;) {
    Reduction reduction = start_reduction(units[i], all[i]);
    finish_reduction(units[i], reduction);
  }
}

//// keeps_the_last_unit_for_backward
// Misconception: the last unit is the first that backward needs, so forward may keep it.
// Replaces: forward, backward
// Killed by: Part3Passes.one_collective_per_unit
// Diagnosis: keeps_a_unit_for_backward

static Tensors last;

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  const Compute keeping{[&](std::size_t i, const Tensors& parameters, const Tensor& x) {
                          if (i + 1 == units.size()) last = parameters;
                          return compute.run_forward(i, parameters, x);
                        },
                        compute.run_backward};
  return right_forward(units, input, keeping);
}

void backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  for (std::size_t i = units.size(); i-- > 0;) {
    Tensors parameters = std::exchange(last, {});
    if (parameters.empty()) {
      Gather gather = start_gather(units[i]);
      parameters = finish_gather(units[i], gather);
    }
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

//// keeps_the_parameters
// Misconception: backward will need the parameters, so forward keeps them.
// Replaces: forward
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_the_parameters

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  std::vector<Tensors> all;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    all.push_back(finish_gather(units[i], gather));
    output = compute.run_forward(i, all.back(), output);
  }
  return output;
}

//// keeps_the_parameters_elsewhere
// Misconception: what is in a std::vector does not count as memory, so each unit that has been gathered once
// is remembered there.
// Replaces: forward
// Killed by: Part3Passes.forward_holds_one_unit
// Diagnosis: keeps_whole_units_outside_of_tensors

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  static std::vector<std::vector<double>> remembered;
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Gather gather = start_gather(units[i]);
    const Tensors parameters = finish_gather(units[i], gather);
    for (const Tensor& parameter : parameters) remembered.push_back(parameter.to_vector<double>());
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

//// remembers_the_number_of_units
// Misconception: a program trains one model, so its number of units is counted once.
// Replaces: forward
// Killed by: Part3Passes.forward_as_on_one_rank
// Diagnosis: remembers_the_call_before

Tensor forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  static const std::size_t count = units.size();
  return right_forward({units.begin(), units.begin() + std::min<std::ptrdiff_t>(count, std::ssize(units))},
                       input, compute);
}

//// forgets_the_last_reduction
// Misconception: each reduction is finished by the unit that follows.
// Replaces: prefetching_backward
// Killed by: Part4Prefetch.backward_hides_all_but_the_ends
// Diagnosis: forgets_a_wait

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  Reduction last;
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    if (i + 1 < units.size()) finish_reduction(units[i + 1], last);
    last = start_reduction(units[i], gradients.parameters);
    grad = gradients.input;
  }
}

//// gathers_everything_at_the_start
// Misconception: the earlier all gathers are started, the better they are hidden.
// Replaces: prefetching_forward
// Killed by: Part4Prefetch.one_gather_ahead
// Diagnosis: gathers_everything_at_the_start

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  std::vector<Gather> gathers;
  for (const Unit& unit : units) gathers.push_back(start_gather(unit));
  for (std::size_t i = 0; i < units.size(); ++i)
    output = compute.run_forward(i, finish_gather(units[i], gathers[i]), output);
  return output;
}

//// prefetches_after_computing
// Misconception: the next gather is started when the unit has computed.
// Replaces: prefetching_forward
// Killed by: Part4Prefetch.forward_hides_all_but_the_first_gather
// Diagnosis: hides_nothing

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  Gather next = start_gather(units.front());
  for (std::size_t i = 0; i < units.size(); ++i) {
    output = compute.run_forward(i, finish_gather(units[i], next), output);
    if (i + 1 < units.size()) next = start_gather(units[i + 1]);
  }
  return output;
}

//// prefetches_the_wrong_neighbour
// Misconception: the next unit is unit i + 1, in backward, too.
// Replaces: prefetching_backward
// Killed by: Part4Prefetch.backward_hides_all_but_the_ends
// Diagnosis: prefetches_the_wrong_neighbour

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  Reduction last;
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i + 1 < units.size()) {
      Gather after = start_gather(units[i + 1]);
      finish_gather(units[i + 1], after);
    }
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    if (i > 0) next = start_gather(units[i - 1]);
    if (i + 1 < units.size()) finish_reduction(units[i + 1], last);
    last = start_reduction(units[i], gradients.parameters);
    grad = gradients.input;
  }
  finish_reduction(units.front(), last);
}

//// reduces_all_at_the_end
// Misconception: reductions that were started take care of themselves; it is enough to wait at the end.
// Replaces: prefetching_backward
// Killed by: Part4Prefetch.one_gather_ahead
// Diagnosis: keeps_full_gradients

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  std::vector<Reduction> all(units.size());
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    all[i] = start_reduction(units[i], gradients.parameters);
    grad = gradients.input;
  }
  for (std::size_t i = 0; i < units.size(); ++i) finish_reduction(units[i], all[i]);
}

//// starts_a_reduction_beside_the_last
// Misconception: the earlier a reduction starts, the better; the one before can be finished afterwards.
// Replaces: prefetching_backward
// Killed by: Part4Prefetch.one_gather_ahead
// Diagnosis: two_reductions_in_flight

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  Reduction last;
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    if (i + 1 < units.size()) finish_reduction(units[i + 1], last);
    last = reduction;
    grad = gradients.input;
  }
  finish_reduction(units[0], last);
}

//// two_gathers_ahead
// Misconception: the more gathers are ahead, the more is hidden.
// Replaces: prefetching_forward
// Killed by: Part4Prefetch.forward_hides_all_but_the_first_gather
// Diagnosis: gathers_two_ahead

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  std::vector<Gather> ahead;
  const auto start = [&] {
    if (ahead.size() < units.size()) ahead.push_back(start_gather(units[ahead.size()]));
  };
  start();
  start();
  Tensor output = input;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Tensors parameters = finish_gather(units[i], ahead[i]);
    start();
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}

//// waits_for_each_reduction
// Misconception: the gradients of a unit must be averaged before the next one begins.
// Replaces: prefetching_backward
// Killed by: Part4Prefetch.backward_hides_all_but_the_ends
// Diagnosis: waits_for_each_reduction

void prefetching_backward(std::vector<Unit>& units, const Tensor& grad_output, const Compute& compute) {
  Tensor grad = grad_output;
  Gather next = start_gather(units.back());
  for (std::size_t i = units.size(); i-- > 0;) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i > 0) next = start_gather(units[i - 1]);
    const Gradients gradients = compute.run_backward(i, parameters, grad);
    Reduction reduction = start_reduction(units[i], gradients.parameters);
    finish_reduction(units[i], reduction);
    grad = gradients.input;
  }
}

//// waits_for_what_it_prefetches
// Misconception: what is prefetched must be there before the unit computes.
// Replaces: prefetching_forward
// Killed by: Part4Prefetch.forward_hides_all_but_the_first_gather
// Diagnosis: hides_nothing

Tensor prefetching_forward(const std::vector<Unit>& units, const Tensor& input, const Compute& compute) {
  Tensor output = input;
  Gather next = start_gather(units.front());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Tensors parameters = finish_gather(units[i], next);
    if (i + 1 < units.size()) {
      next = start_gather(units[i + 1]);
      next.work.wait();
    }
    output = compute.run_forward(i, parameters, output);
  }
  return output;
}
