// Misconception: a name is flattened once in a program.
//
// Killed by: Part3Groups.of_flattened_axes
// Diagnosis: groups_of_another_mesh
#include "mutant.h"
#define flatten right_flatten
#include DIST_SOLUTION
#undef flatten

namespace lab {

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  static std::map<std::string, dist::ProcessGroup> known;
  if (!known.contains(name)) known[name] = make_lines(mesh.grid, axes);
  mesh.groups[name] = known[name];
}

}  // namespace lab
