// parallelize_module: layers divided among the ranks of one axis of a mesh, as in
// torch.distributed.tensor.parallel. Every rank makes the whole module, with equal values, and keeps its part
// of the parameters; names, optimizers and state_dict() work unchanged.
//
//   nn::GPT gpt(options);                              // the same seed on every rank
//   parallelize(gpt, mesh["tp"], {.sequence_parallel = true});
//   DistributedDataParallel ddp(gpt, {.group = mesh.get_group("dp")});
//   ...                                                // forward, backward
//   finish_gradients(gpt);                             // placements.h; once per step
//
// The pair is a column-parallel layer and a row-parallel one after it: the first computes some columns of its
// output from the whole input, the second takes these columns and computes a summand of its whole output. One
// all-reduce forward (after the second) and one backward (before the first) serve both. The backward one is
// started before the gradient of the first layer's weight is computed, and waited for after that.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "dist/mesh/device_mesh.h"
#include "dist/mesh/placement.h"
#include "dist/nn/gpt.h"

namespace dist {

// Layouts: Replicate(), the whole on every rank; Shard(1), parts of the time; Shard(-1), parts of the last
// axis. A layout that a style does not have is an Error{invalid_argument}.

// Linear: rows of the weight, and of the bias. CausalSelfAttention's c_attn is divided as three, queries,
// keys and values, each by heads: heads and kv_heads that the ranks do not divide are refused. Other layers
// are divided as torch_chunk() does. The output is Shard(-1), which nn::CrossEntropyLoss refuses.
struct ColwiseParallel {
  Placement input_layout = Replicate();  // or Shard(1): parts are kept for backward(), and gathered again
  // The name of another column-parallel layer of the same parent, earlier in the plan, that has the same
  // input, as w1 for Mlp's w3. The parent adds the two layers' gradients of that input.
  std::string same_input_as = {};
};
// Linear: columns of the weight. The input is Shard(-1). Rank 0 adds the bias to its summand; the bias stays
// whole on every rank, with the whole gradient. Or Embedding: rows of the table, of which the input's tokens
// select some on each rank (vocabulary parallelism).
struct RowwiseParallel {
  Placement output_layout = Replicate();  // or Shard(1)
};
// Layers that work on parts of the time. LayerNorm and RMSNorm: parameters are whole, their gradients Partial
// until finish_gradients(). Dropout: drops what it would drop in the whole. An Embedding of positions,
// [time, width]: each rank takes its part, and the gradient is Partial.
struct SequenceParallel {};
// The module is whole on every rank; its input is Shard(1) and is gathered.
struct PrepareModuleInput {};
// The module is whole on every rank; what follows takes its output as Shard(1).
struct PrepareModuleOutput {};

using ParallelStyle =
    std::variant<ColwiseParallel, RowwiseParallel, SequenceParallel, PrepareModuleInput, PrepareModuleOutput>;
struct PlanEntry {
  std::string modules;  // "transformer.h.*.attn.c_attn"; * stands for one part of a name
  ParallelStyle style;
};
using ParallelPlan = std::vector<PlanEntry>;

// `mesh` has one axis. Every rank of it must call it, with the same values; it communicates in one small
// exchange, after which every rank throws Error{mismatch} if one has another plan, or parameters of another
// shape (other values: D13). Parameters that no entry
// divides stay the same on every rank, and so must their gradients be before an optimizer's step (D12). Call
// it before wrapping the module and before making an optimizer. Throws Error{invalid_argument} for an entry
// that no module matches, a module that is named twice, a layer of another kind, and heads that the ranks do
// not divide; the module is then not to be used.
void parallelize_module(nn::Module& module, const DeviceMesh& mesh, const ParallelPlan& plan,
                        Caller at = Caller::here());

struct GptParallelOptions {
  // Between the pairs, activations are divided along time: norms, dropouts and residuals cost memory / n. The
  // ranks must divide the number of tokens of each input.
  bool sequence_parallel = false;
  // The token embedding and the head are divided, too, and forward() returns this rank's logits, for
  // VocabParallelCrossEntropy; nn::CrossEntropyLoss refuses them until they are gathered. Otherwise both are
  // whole on every rank.
  bool vocabulary_parallel = false;
};
// The plan of a GPT, or of a pipeline's slice of one.
ParallelPlan plan_of(nn::GPT& gpt, const GptParallelOptions& options = {});
// parallelize_module() with that plan.
void parallelize(nn::GPT& gpt, const DeviceMesh& mesh, const GptParallelOptions& options = {},
                 Caller at = Caller::here());

}  // namespace dist
