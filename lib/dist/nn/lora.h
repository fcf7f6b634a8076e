// LoRA (Hu et al. 2021): a model is adapted by two small matrices beside each of its Linear layers, whose
// weights W [out, in] are not trained:
//
//   y = W x + b + (alpha / rank) B A x        A [rank, in], B [out, rank]
//
//   nn::add_lora(gpt, {.rank = 8, .alpha = 16});          // after its weights have been loaded
//   nn::AdamW optimizer(gpt.parameters(), {.lr = 1e-3});  // has state for A and B alone
//   ... training ...
//   nn::merge_lora(gpt);                                  // W + (alpha / rank) B A: as fast as without
//
// A begins with torch's numbers for a Linear, uniform within +-1 / sqrt(in), and B with 0, so the model
// begins as it was. A layer trains rank (in + out) parameters instead of in out. With e bytes per element,
// training with Adam takes 4 e rank (in + out) bytes for values, gradients and state, and e in out for W,
// where training W takes 4 e in out. Forward and backward compute 2 rank (in + out) and 4 rank (in + out)
// operations more per row, and backward 2 in out fewer, because W has no gradient. W's gradient is what a
// Linear keeps its input for; A's needs it, too, so activations take as much as without LoRA, and rank
// elements per row more.
//
// The names are those of Hugging Face's PEFT without its prefix "base_model.model." and its adapter's name:
// "transformer.h.0.attn.c_attn.lora_A.weight". W and b keep theirs, so a file of the model without LoRA has
// the names of the model before add_lora(), and of the merged one.
#pragma once

#include <string>
#include <vector>

#include "dist/nn/linear.h"
#include "dist/nn/module.h"

namespace dist::nn {

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 16;
  // For add_lora(): the last parts of the names of the layers to adapt, such as {"c_attn", "c_proj"}. Empty:
  // every Linear except "lm_head".
  std::vector<std::string> targets = {};
};

// A Linear with LoRA from the beginning.
class LoraLinear final : public Linear {
 public:
  // W and b as in Linear. Throws what Linear() and add_lora() throw.
  LoraLinear(std::int64_t in, std::int64_t out, const LoraOptions& lora = {}, LinearOptions options = {});
  // W [out, in] and b [out], if it is defined, share memory with these tensors.
  LoraLinear(Tensor weight, Tensor bias, const LoraOptions& lora = {});
  void merge() { merge_lora(); }
  void unmerge() { unmerge_lora(); }
};

// Gives LoRA to layers of a model, of which nothing else is trained afterwards. DistributedDataParallel,
// fully_shard() and checkpoint() come later. Every rank calls it with the same manual_seed(), or
// DistributedDataParallel makes the matrices equal. Returns how many layers have it. Throws
// Error{invalid_argument} if a target names no Linear, and what Linear::add_lora() throws; then nothing has
// changed.
std::size_t add_lora(Module& model, const LoraOptions& options = {});
// For all layers of the model that have LoRA. Throw Error{invalid_argument} if there are none.
void merge_lora(Module& model);
void unmerge_lora(Module& model);

// What one layer has.
struct Lora {
  Lora(const LoraOptions& options, const Parameter& beside);
  Linear a, b;
  double scale;
  Tensor unmerged;  // the weight before merge_lora(); undefined when it is not merged
};

}  // namespace dist::nn
