// Lab 17, the specification: ranks on a grid of named axes, the groups of its lines, and two sums over some
// of the axes. You write these functions in device_mesh.cpp. Do not change this file.
//
// A place of a grid has a coordinate along each axis, from 0. Places are in row-major order: the last
// coordinate changes fastest. All arguments are valid: names are distinct, each axis has at least one rank,
// ranks are distinct, and there are as many as places. Lists of axes are in the grid's order; only
// Gradient::sharded_over may be empty.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

using Names = std::vector<std::string>;

struct Grid {
  Names names;             // of the axes: {"dp", "tp"}
  std::vector<int> sizes;  // ranks along each axis: {2, 4}
  std::vector<int> ranks;  // the global rank at each place, in row-major order; any ranks, in any order
};

// Part 1. Where a rank is in the grid. No communication.
// - Output: its coordinate along each axis; an empty list for a rank that is not in the grid.
// - Example: a grid of 2 x 3 with ranks {10, 11, 12, 13, 14, 15}: rank 14 is at {1, 1}, rank 9 at {}.
std::vector<int> coordinates(const Grid& grid, int rank);

// Part 1. Which rank is at a place: the inverse of coordinates(). No communication.
// - Example: in the grid above, {1, 2} is the place of rank 15.
int rank_at(const Grid& grid, const std::vector<int>& coordinates);

// Part 2. The part of the grid that is reached from a rank by moving along these axes only.
// - Input: some or all of the grid's axes; a rank of the grid.
// - Output: a grid with these axes. Its ranks are those whose coordinates along all OTHER axes are equal to
//   those of `rank`, in row-major order. No communication.
// - Example: a grid of 2 x 2 x 2 with axes dp, cp and tp and ranks 0 to 7. The slice along {"cp"} from rank 5
//   has the ranks {5, 7}; along {"dp", "tp"} it has sizes {2, 2} and ranks {0, 1, 4, 5}.
Grid slice(const Grid& grid, const Names& axes, int rank);

// A grid, and this rank's groups. A line is a slice along one axis, or along several axes that are treated
// as one (flattened). Its ranks are the group's ranks, in the slice's order.
struct Mesh {
  Grid grid;
  std::map<std::string, dist::ProcessGroup> groups;  // by the name of an axis, or of flattened axes
};

// Part 3. Makes the groups of all axes. EVERY rank of the default group calls it, with the same grid; some of
// these ranks may not be in the grid.
// - Output: groups[axis] is the group of this rank's line along the axis, for each axis of the grid; an empty
//   handle, ProcessGroup{}, on a rank that is not in the grid.
// - Constraint: all lines of the first axis, then all lines of the second one, and so on; one new_group for
//   each line, even where a line has one rank, and no more. All ranks make the calls in the same order.
// - Example: a grid of 2 x 2 with axes dp and tp and ranks 0 to 3: dp has the lines {0, 2} and {1, 3}, tp
//   {0, 1} and {2, 3}. That is four groups. On rank 2, groups["dp"] is {0, 2} and groups["tp"] is {2, 3}.
Mesh make_mesh(const Grid& grid);

// Part 3. Makes the groups of the lines along several axes, flattened into one. Every rank of the default
// group calls it, with the same arguments.
// - Output: groups[name], as in make_mesh(). The grid does not change.
// - Constraint: one new_group for each line, and none if the mesh has a group of this name already (then the
//   axes are the same, too).
// - Example: in the grid of 2 x 2 x 2 above, {"dp", "cp"} has the lines {0, 2, 4, 6} and {1, 3, 5, 7}.
void flatten(Mesh& mesh, const Names& axes, const std::string& name);

struct MeanLoss {
  double mean = 0;          // over all tokens
  std::int64_t tokens = 0;  // how many these are
};

// Part 4. The mean loss of a step. Every rank of the mesh calls it.
// - Input: the name of the axis along which ranks have different tokens (there is a group of this name; the
//   axis may be flattened); the sum of the losses of this rank's tokens; their number. The numbers may differ
//   along this axis, and a rank may have no token, but not all ranks. Along all other axes they are equal.
// - Output: the mean over all tokens, each counted once, and their number.
// - Constraint: one all_reduce of two f64, in the group of `data`.
// - Example: data is dp, with two ranks: one has the sum 6 of 3 tokens, the other the sum 1 of 1 token. The
//   mean is 7 / 4 = 1.75, of 4 tokens.
MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens);

// The gradient of one parameter, as this rank has it.
struct Gradient {
  dist::Tensor values;  // f64; may have no element
  // Axes of the grid along which the parameter is sharded: there, every rank has different elements. Along
  // all other axes it is replicated: every rank has the same elements, with the same bits.
  Names sharded_over;
};

// Part 5. The norm of the whole gradient: the square root of the sum of the squares of all its elements, in
// which each element counts once. Every rank of the mesh calls it, with the same number of gradients, and the
// same sharded_over for each of them. The tensors may have different sizes.
// - Output: the norm, with the same bits on all ranks of the mesh. The gradients do not change.
// - Constraint: one all_reduce for each axis over which a gradient is sharded, in the group of this axis, of
//   at most 8 bytes for each such gradient; none for other axes.
// - Example: a mesh of 2 x 2. A gradient sharded over tp is {3} where tp is 0 and {4} where tp is 1, and a
//   replicated one is {12}. The norm is 13 on all four ranks: the root of 3 * 3 + 4 * 4 + 12 * 12.
double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients);

// Part 5. Limits the norm of the whole gradient: multiplies all gradients, in place, by
// min(1, max_norm / (norm + 1e-6)). Returns the norm before. All else is as in gradient_norm().
// - Example: with the gradients above and max_norm 6.5, they are multiplied by 6.5 / 13.000001.
double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm);

}  // namespace lab
