// Which part of each parameter a rank of a tensor-parallel module has, for code that needs the whole:
// checkpoints, the norm of all gradients, tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dist/mesh/device_mesh.h"
#include "dist/mesh/placement.h"
#include "dist/nn/module.h"

namespace dist {

// A parameter on the ranks of one axis of a mesh.
struct ParameterPlacement {
  std::string name;                        // in the module that was made parallel
  DeviceMesh mesh;                         // of one axis
  Placement placement = Replicate();       // of the value, and of the optimizer's state
  Placement grad_placement = Replicate();  // of the gradient after backward()
  Shape shape;                             // of the whole
  // The sizes along the sharded axis of what is divided apart, each as torch_chunk() divides it: queries,
  // keys and values of one fused weight. Their sum is the whole axis. A plain Shard has one.
  std::vector<std::int64_t> parts = {};
};

// Each of named_parameters(), in their order. Throws Error{invalid_argument} if parallelize_module() was not
// called for this module itself. Does not communicate.
std::vector<ParameterPlacement> placements_of(nn::Module& module, Caller at = Caller::here());

// Call it once per step, after the last backward() and before gradients are clipped or used: sums the
// gradients that are Partial (of norms and positions under sequence parallelism) over the ranks, in one
// all_reduce; without any it does nothing. Every rank of the axis must call it.
void finish_gradients(nn::Module& module, Caller at = Caller::here());

// The part that a rank of the axis has of a whole parameter, in memory of its own. Does not communicate.
Tensor part_of(const Tensor& whole, const ParameterPlacement& placement, int rank);
// The reverse, from the parts of all ranks: one all_gather if it is sharded. Every rank of the axis must call
// it.
Tensor whole_of(const Tensor& part, const ParameterPlacement& placement, Caller at = Caller::here());

// state_dict() of the module before it was made parallel, and whole gradients under the parameters' names
// (after finish_gradients()). Every rank of the axis must call it.
nn::StateDict full_state_dict(nn::Module& module, Caller at = Caller::here());
nn::StateDict full_gradients(nn::Module& module, Caller at = Caller::here());

}  // namespace dist
