// Misconception: an old checkpoint is in the way of the new one.
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: a_moment_without_a_checkpoint
#include "mutant.h"
#define save_checkpoint right_save_checkpoint
#include DIST_SOLUTION
#undef save_checkpoint

namespace lab {

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_rank() == 0) std::filesystem::remove(file);
  right_save_checkpoint(file, model, optimizer, epochs_done);
}

}  // namespace lab
