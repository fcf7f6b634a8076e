// Pieces: boxes of tensors, one rank's parts of a model's state, in terms of the whole tensors. What is saved
// as the pieces of one mesh is loaded as the pieces of another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

namespace dist {

// A box of a tensor: elements [offset[k], offset[k] + data.size(k)) along each axis k. `data` shares memory
// with the state that it is a part of, so that loading writes there. Several pieces can have one name.
struct Piece {
  std::string name;
  Tensor data;
  Shape whole;   // the shape of the whole tensor
  Shape offset;  // one number per axis
  bool may_differ =
      false;  // between ranks that have the same box: a buffer, of which the first rank's counts
  std::string fallback = {};  // loaded where a checkpoint has no tensor of this name
};
using Pieces = std::vector<Piece>;

// The pieces of this rank of a module, as the records of its parameters (mesh/placed.h) say: fully sharded,
// tensor parallel, a stage of a pipeline, or any of them together; and buffers. What is gathered becomes this
// rank's part first, as after reshard(). Does not communicate.
Pieces pieces_of(nn::Module& module);
// The gradients in the same way.
Pieces gradient_pieces_of(nn::Module& module);
// The optimizer's state: "optimizer.exp_avg.NAME" with the boxes of the module's parameter NAME; and what
// does not belong to a parameter ("optimizer.step") whole. Each parameter has a step count of its own, since
// it may have been frozen for a time. Makes the state of an optimizer before its first step
// (Optimizer::make_state), so that a checkpoint can be loaded into it. A ZeroOptimizer's state is that of its
// local().
Pieces pieces_of(nn::Optimizer& optimizer, nn::Module& module);
// The same for an optimizer of several modules, such as the stages of a pipeline.
Pieces pieces_of(nn::Optimizer& optimizer, std::span<nn::Module* const> modules);

// Both, in one list, as save_sharded() needs them: a second save into a folder replaces the first one.
Pieces all_pieces_of(nn::Module& module, nn::Optimizer& optimizer);

// Copies the elements that two boxes of one tensor have in common from one to the other; returns how many.
std::int64_t copy_common(const Piece& from, const Piece& to);

}  // namespace dist
