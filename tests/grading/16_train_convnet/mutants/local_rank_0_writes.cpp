// Misconception: local rank 0 is rank 0. (There is one on every node.)
//
// Killed by: Part4Checkpoint.rank_0_writes
// Diagnosis: every_rank_writes
#include "mutant.h"
#define save_checkpoint right_save_checkpoint
#include DIST_SOLUTION
#undef save_checkpoint

namespace lab {

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_local_rank() != 0) return;
  nn::StateDict all = nn::with_prefix("model.", model.state_dict());
  for (const auto& one : nn::with_prefix("optimizer.", optimizer.state_dict())) all.push_back(one);
  all.push_back({epochs_done_name, dist::tensor({epochs_done})});
  nn::save_safetensors(file, all);
}

}  // namespace lab
