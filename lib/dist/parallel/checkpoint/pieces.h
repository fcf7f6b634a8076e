// Pieces: boxes of tensors, one rank's parts of a model's state, in terms of the whole tensors. What is saved
// as the pieces of one mesh is loaded as the pieces of another.
#pragma once

#include <functional>
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
};
using Pieces = std::vector<Piece>;

// The pieces of this rank of a module: of each parameter the rows that fully_shard() left it, or all of it,
// and buffers. Does not communicate.
Pieces pieces_of(nn::Module& module);
// The optimizer's state: "optimizer.exp_avg.NAME" with the box of the module's parameter NAME; and what does
// not belong to a parameter ("optimizer.step") whole. Empty before the first step.
Pieces pieces_of(const nn::Optimizer& optimizer, nn::Module& module);
// The same for parameters that are divided in another way: `of` returns the pieces of a tensor that is
// divided as the parameter is, under the parameter's name.
Pieces pieces_of(const nn::Optimizer& optimizer,
                 const std::function<Pieces(const nn::Parameter& parameter, const Tensor& tensor)>& of);

// Copies the elements that two boxes of one tensor have in common from one to the other; returns how many.
std::int64_t copy_common(const Piece& from, const Piece& to);

}  // namespace dist
