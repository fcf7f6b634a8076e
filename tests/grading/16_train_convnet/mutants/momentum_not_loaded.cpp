// Misconception: everything that was learned is in the weights, so a new optimizer will do.
//
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: momentum_not_loaded
#include "mutant.h"
#define load_checkpoint right_load_checkpoint
#include DIST_SOLUTION
#undef load_checkpoint

namespace lab {

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer& optimizer) {
  (void)optimizer;
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  return nn::find(all, epochs_done_name)->item<int>();
}

}  // namespace lab
