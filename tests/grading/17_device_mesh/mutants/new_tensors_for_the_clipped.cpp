// Misconception: the clipped gradients are an output, so they may be new tensors.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: not_in_place
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  for (Gradient& gradient : gradients) gradient.values = gradient.values.clone();
  return right_clip_gradients(mesh, gradients, max_norm);
}

}  // namespace lab
