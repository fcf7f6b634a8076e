// Misconception: making a group once more does no harm.
//
// Killed by: Part3Groups.one_for_each_line
// Diagnosis: flattens_twice
#include "mutant.h"
#define flatten right_flatten
#include DIST_SOLUTION
#undef flatten

namespace lab {

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  mesh.groups[name] = make_lines(mesh.grid, axes);
}

}  // namespace lab
