// Misconception: a file that is written elsewhere and copied when it is complete is never incomplete. (The
// copy is, for a while.)
//
// Killed by: Part5Train.killed_and_resumed
// Diagnosis: overwrites_the_old_checkpoint
#include <fstream>

#include "mutant.h"
#define save_checkpoint right_save_checkpoint
#include DIST_SOLUTION
#undef save_checkpoint

namespace lab {

void save_checkpoint(const std::filesystem::path& file, nn::Module& model, const nn::Optimizer& optimizer,
                     int epochs_done) {
  if (dist::get_rank() != 0) return;
  std::filesystem::path beside = file;
  beside += ".new";
  right_save_checkpoint(beside, model, optimizer, epochs_done);
  std::ofstream(file, std::ios::binary) << std::ifstream(beside, std::ios::binary).rdbuf();
  std::filesystem::remove(beside);
}

}  // namespace lab
