// Misconception: weights and optimizer are restored, so the run can continue. The number of the epoch is
// missing.
//
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: epoch_lost
#include "mutant.h"
#define load_checkpoint right_load_checkpoint
#include DIST_SOLUTION
#undef load_checkpoint

namespace lab {

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  optimizer.load_state_dict(nn::part(all, "optimizer."));
  return 0;
}

}  // namespace lab
