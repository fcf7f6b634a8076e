// Misconception: a model consists of its parameters. Its buffers are part of it, too.
//
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: running_statistics_lost
#include "mutant.h"
#define load_checkpoint right_load_checkpoint
#include DIST_SOLUTION
#undef load_checkpoint

namespace lab {

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  const auto all = nn::load_safetensors(file);
  for (auto& [name, parameter] : model.named_parameters())
    parameter->value.copy_(*nn::find(all, "model." + name));
  optimizer.load_state_dict(nn::part(all, "optimizer."));
  return nn::find(all, epochs_done_name)->item<int>();
}

}  // namespace lab
