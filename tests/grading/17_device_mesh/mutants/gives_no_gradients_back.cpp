// Misconception: clipped gradients have done their work, so the list is emptied for the next step.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: none
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = right_clip_gradients(mesh, gradients, max_norm);
  gradients.clear();
  return norm;
}

}  // namespace lab
