// Misconception: everything that was learned is in the weights, so the file needs nothing else.
//
// Killed by: Part4Checkpoint.everything_comes_back
// Diagnosis: momentum_lost
#include "mutant.h"
#define save_checkpoint right_save_checkpoint
#define load_checkpoint right_load_checkpoint
#include DIST_SOLUTION
#undef save_checkpoint
#undef load_checkpoint

namespace lab {

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  (void)optimizer;
  if (dist::get_rank() != 0) return;
  nn::StateDict all = nn::with_prefix("model.", model.state_dict());
  all.push_back({epochs_done_name, dist::tensor({epochs_done})});
  nn::save_safetensors(file, all);
}

int load_checkpoint(const std::filesystem::path& file, nn::Module& model, nn::Optimizer&) {
  const auto all = nn::load_safetensors(file);
  model.load_state_dict(nn::part(all, "model."));
  return nn::find(all, epochs_done_name)->item<int>();
}

}  // namespace lab
