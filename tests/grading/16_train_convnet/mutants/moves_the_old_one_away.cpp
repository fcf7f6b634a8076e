// Misconception: the old checkpoint is safe under another name while the new one is written. (A run that
// resumes does not look there.)
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
  if (dist::get_rank() != 0) return;
  std::filesystem::path beside = file;
  beside += ".old";
  const bool has_old = std::filesystem::exists(file);
  if (has_old) std::filesystem::rename(file, beside);
  right_save_checkpoint(file, model, optimizer, epochs_done);
  if (has_old) std::filesystem::remove(beside);
}

}  // namespace lab
