// Placed: which part of a whole tensor this rank has, and among which ranks the rest is.
// nn::Parameter::division is one where ranks have divided a parameter among them; there is no other record of
// it. Whoever divides a parameter (fully_shard(), parallelize(), a pipeline, ZeroOptimizer) adds an axis;
// clip_grad_norm(), checkpoints, DistributedDataParallel and full_state_dict() read it. A DTensor (dtensor.h)
// is such a record with its data.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/mesh/placement.h"
#include "dist/nn/parameter.h"

namespace dist {

// How the ranks of one group have divided a tensor, or what earlier axes have left of it.
struct PlacedAxis {
  std::string name;                        // "tp", for messages
  ProcessGroup group = {};                 // empty: the default group
  Placement placement = Replicate();       // of the value, and of the optimizer's state
  Placement grad_placement = Replicate();  // of the gradient as it is now
  // The sizes along the sharded axis of what is divided apart, each as torch_chunk() divides it: queries,
  // keys and values of one fused weight. Their sum is the whole axis. Empty: all of it is one.
  std::vector<std::int64_t> parts = {};
  bool is_stage = false;  // the other ranks have other parameters of the model: a pipeline
  std::string remedy =
      {};  // what to do about a gradient that is still Partial: "call finish_gradients() first"
};

class Placed final : public nn::Division {
 public:
  explicit Placed(Shape whole_shape) : whole(std::move(whole_shape)) {}

  Shape whole;                   // the shape of the whole tensor
  std::vector<PlacedAxis> axes;  // in the order in which they have divided it
  // The name of the parameter of which this one is a second copy, as the head of the last stage is of the
  // token embedding in the first. It counts once in a norm, and checkpoints have it once. Empty: it is none.
  std::string copy_of;

  // A box of elements: where it is in this rank's tensor, and where it begins in the whole one.
  struct Box {
    LocalPart local;
    Shape offset;
  };
  // This rank's elements; several boxes where parts are divided apart, none where it has no elements.
  std::vector<Box> boxes() const;
  bool has_all() const override;
  // The part that the rank `rank` of axis `i` has of what the axes before have left, in memory of its own.
  // Does not communicate.
  Tensor part_along(std::size_t i, const Tensor& of, int rank) const;
  // The whole tensor, from the parts of all ranks: one all_gather per axis that shards it. Every rank of
  // these axes must call it.
  Tensor full_tensor(const Tensor& part, Caller at = Caller::here()) const;

  // One all_reduce per axis of up to 2^(axes - 1) f64. Throws Error{invalid_argument}, with the remedy, for a
  // gradient that is still Partial.
  Tensor squared_norm(std::span<const nn::NamedParameter> parameters) const override;

 private:
  Shape shape_before(std::size_t i) const;  // of what the axes before axis `i` have left for this rank
};

// The record of a parameter, or null.
Placed* placed_of(const nn::Parameter& parameter);
// The same; makes one if there is none.
Placed& place(nn::Parameter& parameter);
// Refuses parameters that the ranks of `group` have divided among them, for a call that needs the same ones
// on every rank of it. Throws Error{invalid_argument}, which names one and the axis.
void require_whole(std::string_view call, std::span<const nn::NamedParameter> parameters,
                   const ProcessGroup& group, CallSite where);

}  // namespace dist
