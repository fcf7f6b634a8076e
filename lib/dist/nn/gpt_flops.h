// How many floating-point operations the training of a GPT takes.
#pragma once

#include "dist/nn/gpt.h"

namespace dist::nn {

// Forward and backward of one token in a sequence of a whole context, by the rule that published MFUs follow
// (Chowdhery et al. 2022, PaLM, appendix B): 6 per element of the weight of each Linear, the head among them,
// and 12 layers context width for attention, as if every token saw all others. Nothing else counts: not
// embeddings, norms, activations or the optimizer, and not what is computed again to save memory. With LoRA
// of this rank, weights that are not trained count 4 per element, and both small matrices 6.
double training_flops_per_token(const GptOptions& options, std::int64_t lora_rank = 0);

}  // namespace dist::nn
