// fully_shard: fully sharded data parallel, as torch.distributed.fsdp.fully_shard (FSDP2). Each rank keeps
// 1/n of every parameter, of its gradient, and so of the optimizer's state; what a layer needs is gathered
// just before it computes and given up afterwards.
//
//   for (nn::Block* block : gpt.blocks()) fully_shard(*block, {.mesh = mesh});
//   fully_shard(gpt, {.mesh = mesh});                     // from the inside out: the rest is one more unit
//   nn::AdamW optimizer(gpt.parameters());                // made afterwards: it sees the shards
//   loss.forward(gpt.forward(tokens), targets);
//   gpt.backward(loss.backward());
//   optimizer.step();
//
// Each call makes one unit of the module's parameters that are not in a unit yet. With n ranks, L units and
// the root, and W bytes of parameters (each padded to n equal shards; Rajbhandari et al. 2020, ZeRO-3), a
// step of forward and backward has these collectives:
//
//   reshard_after_forward   all-gathers            reduce-scatters   bytes sent per rank
//   default (root: false)   L + 1 and L            L + 1             (n-1)/n (3 W - W_root)
//   true, root too          L + 1 and L + 1        L + 1             (n-1)/n 3 W
//   false                   L + 1 and 0            L + 1             (n-1)/n 2 W
//
// The all-gather of the next unit is started before a unit computes, in forward and in backward, and a
// reduce-scatter overlaps with the next unit's backward. The first forward shows the order of the units;
// where it is not known, in that one and where a later step leaves it, nothing is gathered ahead, and the
// ranks compare which unit they compute: a few bytes per unit and axis. A gather that no unit has used ends
// with the forward() or backward() of the outermost unit. If communication is shorter than computation, only
// the first all-gather of forward, the first one of backward (two if the root is gathered again) and the last
// reduce-scatter are exposed. With a mesh of two axes, the all-reduce of a unit's sums across the lines
// overlaps with the next unit's backward, too; the last one is exposed.
//
// In backward, a rank holds its own parameters and gradients, 2 W / n bytes, the whole root with its
// gradients, 2 W_root, and, with units of u bytes, at most (4 + 1 / n) u of these: the one that computes with
// its gradients, the next one's gather, and the input and output of the last one's reduction. With two axes,
// the output of the one before, u / n, is under way, too. In mixed precision, the units' and the root's bytes
// are those of param_dtype, the reduction's those of reduce_dtype, and a gather's input, u / n, is a copy.
//
// Parameters that are not trained (Parameter::requires_grad) are gathered like the others; they have no part
// in reductions, and there is none where no parameter of a unit is trained. Which ones are may change between
// two steps. A unit in which all are trained or all are not costs least.
//
// Parameters are whole during forward() and backward(), and those that are kept gathered between the two.
// state_dict(), load_state_dict(), to(), checkpoints and an optimizer's step() give them up first, as
// reshard() does; what you write into a gathered value yourself is lost. A tensor that you put in the place
// of a value or a gradient counts if it has the same shape, dtype and device, and is refused by name
// otherwise: so call to() before fully_shard(). After an error in forward() or backward() that every rank
// catches, zero_grad() and the next step are those of a model that never saw it. If one rank alone fails, the
// others wait for it in a gather: so let the ranks check their batches and agree before forward().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dist/mesh/device_mesh.h"
#include "dist/nn/module.h"
#include "dist/parallel/full_state.h"

namespace dist {

// Other dtypes for communication and computation than the parameters', which stay as they are: the optimizer
// steps in theirs, on the shards. As torch's MixedPrecisionPolicy.
struct MixedPrecision {
  // What parameters are gathered in and the unit computes in: bf16, f32 or f64. No layer computes in f16:
  // after a gather in f16 they compute in f32, with the rounded values.
  std::optional<DType> param_dtype = {};
  // What gradients are reduced in, and summed in between two reductions; default: what the unit computes in.
  std::optional<DType> reduce_dtype = {};
  // What forward() returns; default: as computed. backward() takes a gradient of that dtype.
  std::optional<DType> output_dtype = {};
  // With param_dtype: whether forward() converts a floating point input to what the unit computes in.
  // backward() then returns a gradient of the input's own dtype.
  bool cast_forward_inputs = true;
};

// The options of fully_shard().
struct FullyShardOptions {
  // One axis: parameters are sharded along it. Two axes (replicate, shard): hybrid sharding, in which each
  // line of the second one has all parameters. Default: all ranks of the default group.
  DeviceMesh mesh = {};
  // Whether the parameters are given up between forward and backward. Default: true, but false for the
  // outermost unit, which backward needs first and last. In evaluation they are always given up.
  std::optional<bool> reshard_after_forward = {};
  MixedPrecision mixed_precision = {};
};

// Shards the module's parameters that are not in a unit yet: they become views of this rank's rows (a rank
// may have none), and their gradients, too; their records (mesh/placed.h) say so. Every rank of the mesh must
// call it, on modules with equal values, which are not communicated. From then on forward() and backward()
// are collectives: every rank of the mesh calls them for the same modules in the same order; ranks that do
// not get Error{mismatch}, which names their units. backward() adds the mean of the gradients over all ranks
// of the mesh to this rank's rows. Throws Error{invalid_argument} for a module that is already a unit, for a
// tied parameter whose two uses would be in two units, for parameters that are divided along the mesh already
// or whose gradients something else reduces, and for a dtype that is not floating point; the text says how to
// fix it.
void fully_shard(nn::Module& module, const FullyShardOptions& options = {}, Caller at = Caller::here());

// For several backward() per step. Off: gradients are summed on each rank, unsharded, and nothing is sent;
// the next backward() with it on reduces the sums, and zero_grad() forgets them. For all units of the module
// and below. (Left on all the time, each backward() reduces its own gradients, and the sums are of shards:
// more bytes, less memory.)
void set_requires_gradient_sync(nn::Module& module, bool on);
// With a mesh of two axes. Off: backward() only reduces within a line of shards; the next one with it on
// reduces the sums across the lines.
void set_requires_all_reduce(nn::Module& module, bool on);

// Gathers the parameters of all units of the module and below until reshard(), for reading; collective.
void unshard(nn::Module& module);
void reshard(nn::Module& module);

// full_state_dict() and full_gradients() by the names that they have had here.
inline nn::StateDict unsharded_state_dict(nn::Module& module) { return full_state_dict(module); }
inline nn::StateDict unsharded_gradients(nn::Module& module) { return full_gradients(module); }

}  // namespace dist
