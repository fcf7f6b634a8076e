// The plan of a GPT.
#include "dist/parallel/tensor/parallelize.h"

namespace dist {

ParallelPlan plan_of(nn::GPT& gpt, const GptParallelOptions& options) {
  const nn::GptOptions& model = gpt.options();
  const bool sequence = options.sequence_parallel;
  const Placement between = sequence ? Placement(Shard(1)) : Placement(Replicate());
  const ColwiseParallel column{.input_layout = between};
  const RowwiseParallel row{.output_layout = between};
  const std::string block = "transformer.h.*.";

  ParallelPlan plan;
  if (!gpt.blocks().empty()) {
    plan.push_back({block + "attn.c_attn", column});
    plan.push_back({block + "attn.c_proj", row});
    if (model.gated) {
      plan.push_back({block + "mlp.w3", column});
      plan.push_back({block + "mlp.w1", ColwiseParallel{.input_layout = between, .same_input_as = "w3"}});
      plan.push_back({block + "mlp.w2", row});
    } else {
      plan.push_back({block + "mlp.c_fc", column});
      plan.push_back({block + "mlp.c_proj", row});
    }
    if (sequence)
      for (const char* const name : {"ln_1", "attn.resid_dropout", "ln_2", "mlp.dropout"})
        plan.push_back({block + name, SequenceParallel{}});
  }
  if (sequence) plan.push_back({"transformer.drop", SequenceParallel{}});
  if (gpt.has_embedding()) {
    if (options.vocabulary_parallel)
      plan.push_back({"transformer.wte", row});
    else if (sequence)
      plan.push_back({"transformer.wte", PrepareModuleOutput{}});
    if (sequence && !model.rotary) plan.push_back({"transformer.wpe", SequenceParallel{}});
  }
  if (gpt.has_head()) {
    if (sequence) plan.push_back({"transformer.ln_f", SequenceParallel{}});
    if (options.vocabulary_parallel)
      plan.push_back({"lm_head", column});
    else if (sequence)
      plan.push_back({"lm_head", PrepareModuleInput{}});
  }
  return plan;
}

}  // namespace dist
