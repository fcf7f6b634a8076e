// Misconception: what clipping returns is the norm that the gradient has now.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: norm_after_clipping
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = right_clip_gradients(mesh, gradients, max_norm);
  return norm * std::min(1.0, max_norm / (norm + 1e-6));
}

}  // namespace lab
