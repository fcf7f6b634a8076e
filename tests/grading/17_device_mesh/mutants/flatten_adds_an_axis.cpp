// Misconception: flattened axes are one more axis of the grid.
//
// Killed by: Part3Groups.of_flattened_axes
// Diagnosis: none
#include "mutant.h"
#define flatten right_flatten
#include DIST_SOLUTION
#undef flatten

namespace lab {

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  if (mesh.groups.contains(name)) return;
  right_flatten(mesh, axes, name);
  mesh.grid.names.push_back(name);
}

}  // namespace lab
