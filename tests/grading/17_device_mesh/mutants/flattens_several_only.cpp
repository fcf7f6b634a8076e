// Misconception: one axis alone needs no flattening, so there is nothing to do.
//
// Killed by: Part3Groups.of_flattened_axes
// Diagnosis: none
#include "mutant.h"
#define flatten right_flatten
#include DIST_SOLUTION
#undef flatten

namespace lab {

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  if (axes.size() > 1) right_flatten(mesh, axes, name);
}

}  // namespace lab
