// Lab 18, the specification: every rank keeps 1/n of the parameters, and gathers the rest when it is needed.
// You write these functions in fully_sharded.cpp. Do not change this file.
//
// The ranks are those of the default group; n is their number. Of the library's operations only
// all_gather_into_tensor and reduce_scatter_tensor are used. All parameters are f64 and have at least one
// row; a row is one entry of the first axis. A model has at least one unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

using Tensors = std::vector<dist::Tensor>;

// The rows [first, first + count) of a parameter.
struct Rows {
  std::int64_t first = 0, count = 0;
};

// Part 1. Which rows of a parameter a rank has, by the rule of torch.chunk: every rank has ceil(rows / n) of
// them, until there are none left.
// - Input: the number of rows, which may need more than 32 bits; a rank; the number of ranks. No
//   communication.
// - Output: the rank's rows. A rank without rows has count 0, and first is then the number of rows.
// - Example: 6 rows on 4 ranks: {0, 2}, {2, 2}, {4, 2}, {6, 0}. 5 rows: {0, 2}, {2, 2}, {4, 1}, {5, 0}.
Rows rows_of(std::int64_t rows, int rank, int n);

// Changes some rows of a parameter; `gradient` has the same shape. It is the optimizer, which keeps its state
// (a momentum, for instance) for these rows alone.
using Update = std::function<void(dist::Tensor& parameter, const dist::Tensor& gradient)>;

// Part 1. One training step of ZeRO-1: each rank has the whole parameter, and updates its own rows.
// - Input: a parameter, equal on all ranks; this rank's own gradient of it, of the same shape; the optimizer.
// - Output: on every rank, all rows of `parameter` are updated with the mean of the gradients over the ranks,
//   in the memory that it has: layers hold the same tensor. `gradient` is not changed.
// - Constraint: update is called once, with this rank's rows of the parameter (a view of them, not a copy: an
//   optimizer may know its state by their memory) and of the mean. Their shape is that of the parameter, with
//   as many rows as the rank has; a rank without rows does not call it. One reduce_scatter_tensor and one
//   all_gather_into_tensor, each with the parameter padded to n equal shards of ceil(rows / n) rows: n *
//   ceil(rows / n) * (elements of a row) elements on all ranks together.
// - Example: 3 rows of one element, {1, 2, 3}, on two ranks. The gradients are {2, 2, 2} and {4, 4, 4}, and
//   update subtracts the gradient. Rank 0 updates {1, 2}, rank 1 {3}; both end with {-2, -1, 0}.
void zero_step(dist::Tensor& parameter, const dist::Tensor& gradient, const Update& update);

// A unit: parameters that are gathered together, for instance the weight and the bias of a layer. Each is
// divided by rows_of(). A rank's shard is its rows of the first parameter, then its rows of the second one,
// and so on, each padded with zeros to ceil(rows / n) rows. So all ranks' shards have the same size.
struct Unit {
  std::vector<dist::Shape> shapes;  // of the whole parameters
  dist::Tensor shard;               // this rank's shard: one-dimensional
  dist::Tensor gradient;            // this rank's shard of the gradients, in the same order
};

// ------------------------------------------------------------- what you are given for Part 2 and zero_step

// The rows by which the following functions divide: by your rows_of() in the demonstration, and by right ones
// in the tests, so that a mistake in rows_of() costs the points of Part 1 alone.
Rows rows_in_parts(std::int64_t rows, int rank, int n);

// The same elements on one axis; they share the tensor's memory.
inline dist::Tensor flat(const dist::Tensor& t) { return t.view({t.numel()}); }
// The elements of one row of a parameter.
inline std::int64_t row_size(const dist::Shape& shape) {
  return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}
// The elements that a parameter takes in each shard, with its padding: ceil(rows / n) rows.
inline std::int64_t part_size(const dist::Shape& shape) {
  return rows_in_parts(shape[0], 0, dist::get_world_size()).count * row_size(shape);
}

// One rank's rows of a parameter: `count` elements, which begin at element `in_parameter` of the whole
// parameter, and at element `in_shard` of this rank's shard.
struct Part {
  int rank = 0;
  std::int64_t in_parameter = 0, in_shard = 0, count = 0;
};
// The parts of parameter i, one per rank, in rank order.
inline std::vector<Part> parts_of(const Unit& unit, std::size_t i) {
  const int n = dist::get_world_size();
  const std::int64_t size = row_size(unit.shapes[i]);
  std::int64_t in_shard = 0;
  for (std::size_t before = 0; before < i; ++before) in_shard += part_size(unit.shapes[before]);
  std::vector<Part> parts;
  for (int rank = 0; rank < n; ++rank) {
    const Rows rows = rows_in_parts(unit.shapes[i][0], rank, n);
    parts.push_back({rank, rows.first * size, in_shard, rows.count * size});
  }
  return parts;
}

// ----------------------------------------------------------------------------------------- Part 2: one unit

// Part 2. Makes a unit. No communication.
// - Input: the whole parameters, equal on all ranks. They are copied.
// - Output: a unit whose gradient is zero.
// - Example: a weight of 3 x 2 and a bias of 3 on two ranks. Rank 1 has row 2 of each, and its shard is
//   {w20, w21, 0, 0, b2, 0}.
Unit make_unit(const Tensors& parameters);

// A gather in flight: the shards of all ranks, one after the other, and the Work.
struct Gather {
  dist::Tensor shards;
  dist::Work work = {};
};

// Part 2. Starts to gather a unit, with ONE all_gather_into_tensor, and returns without waiting for it.
Gather start_gather(const Unit& unit);
// Part 2. Waits for the gather.
// - Output: the whole parameters of the unit, with their shapes. gather.shards is released (= {}).
Tensors finish_gather(const Unit& unit, Gather& gather);

// A reduction in flight: the gradients as shards of all ranks, one after the other; the mean of this rank's
// shard; and the Work.
struct Reduction {
  dist::Tensor shards, mean;
  dist::Work work = {};
};

// Part 2. Starts to average the gradients of a unit over the ranks, with ONE reduce_scatter_tensor, and
// returns without waiting for it.
// - Input: this rank's gradients of the whole parameters, with their shapes.
Reduction start_reduction(const Unit& unit, const Tensors& gradients);
// Part 2. Waits for the reduction, and ADDS the mean to unit.gradient (backward accumulates). Both tensors of
// the reduction are released.
void finish_reduction(Unit& unit, Reduction& reduction);

// What the layers of a unit compute. You are given these functions; they need all parameters of the unit
// whole. They keep what else backward needs (the inputs).
struct Gradients {
  dist::Tensor input;  // grad_output of the unit before
  Tensors parameters;  // of the unit, whole
};
struct Compute {
  std::function<dist::Tensor(std::size_t unit, const Tensors& parameters, const dist::Tensor& input)>
      run_forward;
  std::function<Gradients(std::size_t unit, const Tensors& parameters, const dist::Tensor& grad_output)>
      run_backward;
};

// Part 3. The forward pass of a model: unit 0 first. `input` is that of unit 0, each unit's output is the
// next one's input, and the last output is returned.
// - Constraint: one all-gather per unit. At any time, the rank holds the parameters of one unit, at most
//   once as shards of all ranks and once whole: 2 u bytes, where u is what the shards of a unit take on all
//   ranks together.
dist::Tensor forward(const std::vector<Unit>& units, const dist::Tensor& input, const Compute& compute);

// Part 3. The backward pass: the last unit first. `grad_output` is that of the last unit; each unit's
// Gradients::input is the grad_output of the unit before.
// - Output: the mean of the gradients over the ranks is added to each unit's gradient.
// - Constraint: forward has released all parameters, so each unit is gathered again: one all-gather and one
//   reduce-scatter per unit. At any time, the rank holds the parameters and the gradients of one unit: at
//   most (3 + 1/n) u bytes.
void backward(std::vector<Unit>& units, const dist::Tensor& grad_output, const Compute& compute);

// Part 4. As forward(), but the gather of the next unit runs while this one computes.
// - Constraint: one all-gather per unit. Only the first one is exposed if each takes less time than a unit
//   computes. At any time, at most one gather is ahead of the computation: 3 u bytes.
dist::Tensor prefetching_forward(const std::vector<Unit>& units, const dist::Tensor& input,
                                 const Compute& compute);

// Part 4. As backward(), but the gather of the next unit in the order of backward and the reduction of the
// last one run while this one computes.
// - Constraint: one all-gather and one reduce-scatter per unit. Only the first all-gather and the last
//   reduce-scatter are exposed, if both together take less time than a unit computes. At any time: at most
//   (4 + 1/n) u bytes. All collectives are complete when it returns.
void prefetching_backward(std::vector<Unit>& units, const dist::Tensor& grad_output, const Compute& compute);

}  // namespace lab
