// Wrong answers to lab 17, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "device_mesh.h"

namespace lab {

// The solution calls these before it defines them.
std::vector<int> right_coordinates(const Grid& grid, int rank);
Grid right_slice(const Grid& grid, const Names& axes, int rank);

inline std::size_t number_of(const Grid& grid, const std::string& axis) {
  return static_cast<std::size_t>(std::ranges::find(grid.names, axis) - grid.names.begin());
}

// The sum of each number over the ranks of a group.
inline std::vector<double> summed(const std::vector<double>& numbers, const dist::ProcessGroup& group) {
  dist::Tensor t = dist::tensor<double>(numbers);
  dist::all_reduce(t, dist::ReduceOp::sum, {.group = group});
  return t.to_vector<double>();
}

inline double root_of_the_sum(const std::vector<double>& sums) {
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace lab

//// column_by_column
// Misconception: the first axis is the first to be divided by, so its coordinate changes fastest.
// Replaces: coordinates
// Killed by: Part1Place.two_axes
// Diagnosis: column_major

std::vector<int> coordinates(const Grid& grid, int rank) {
  const auto found = std::ranges::find(grid.ranks, rank);
  if (found == grid.ranks.end()) return {};
  auto place = static_cast<int>(found - grid.ranks.begin());
  std::vector<int> all;
  for (const int size : grid.sizes) {
    all.push_back(place % size);
    place /= size;
  }
  return all;
}

//// counts_from_the_first_rank
// Misconception: a grid may begin with any rank, but from there on its ranks are consecutive.
// Replaces: coordinates
// Killed by: Part1Place.ranks_in_any_order
// Diagnosis: counts_from_the_first_rank

std::vector<int> coordinates(const Grid& grid, int rank) {
  int place = rank - grid.ranks.front();
  if (place < 0) return {};
  std::vector<int> all(grid.sizes.size());
  for (std::size_t axis = all.size(); axis-- > 0; place /= grid.sizes[axis])
    all[axis] = place % grid.sizes[axis];
  return all;
}

//// divides_by_its_own_size
// Misconception: the stride of an axis is its own size. (In a square the two are equal.)
// Replaces: coordinates
// Killed by: Part1Place.two_axes
// Diagnosis: stride_of_its_own_size

std::vector<int> coordinates(const Grid& grid, int rank) {
  const auto found = std::ranges::find(grid.ranks, rank);
  if (found == grid.ranks.end()) return {};
  const auto place = static_cast<int>(found - grid.ranks.begin());
  std::vector<int> all(grid.sizes.size());
  int stride = 1;
  for (std::size_t axis = all.size(); axis-- > 0;) {
    all[axis] = place / stride % grid.sizes[axis];
    if (axis > 0) stride *= grid.sizes[axis - 1];
  }
  return all;
}

//// forgets_the_remainder
// Misconception: a coordinate is the position divided by the stride, as in a table of rows and columns.
// Replaces: coordinates
// Killed by: Part1Place.three_and_four_axes
// Diagnosis: forgets_the_remainder

std::vector<int> coordinates(const Grid& grid, int rank) {
  const auto found = std::ranges::find(grid.ranks, rank);
  if (found == grid.ranks.end()) return {};
  const auto place = static_cast<int>(found - grid.ranks.begin());
  std::vector<int> all(grid.sizes.size());
  all.back() = place % grid.sizes.back();
  int stride = 1;
  for (std::size_t axis = all.size() - 1; axis-- > 0;) {
    stride *= grid.sizes[axis + 1];
    all[axis] = place / stride;
  }
  return all;
}

//// outside_has_a_place
// Misconception: every rank of the job is in the grid.
// Replaces: coordinates
// Killed by: Part1Place.two_axes
// Diagnosis: outside_has_a_place

std::vector<int> coordinates(const Grid& grid, int rank) {
  auto place = static_cast<int>(std::ranges::find(grid.ranks, rank) - grid.ranks.begin());
  std::vector<int> all(grid.sizes.size());
  for (std::size_t axis = all.size(); axis-- > 0; place /= grid.sizes[axis])
    all[axis] = place % grid.sizes[axis];
  return all;
}

//// position_as_rank
// Misconception: the rank at a place is the place's number.
// Replaces: rank_at
// Killed by: Part1Place.ranks_in_any_order
// Diagnosis: position_as_rank

int rank_at(const Grid& grid, const std::vector<int>& coordinates) {
  int place = 0;
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
    place = place * grid.sizes[axis] + coordinates[axis];
  return place;
}

//// rank_is_its_position
// Misconception: the ranks of a grid are 0, 1, 2, ..., so a rank is its position.
// Replaces: coordinates
// Killed by: Part1Place.ranks_in_any_order
// Diagnosis: rank_as_position

std::vector<int> coordinates(const Grid& grid, int rank) {
  if (std::ranges::count(grid.ranks, rank) == 0) return {};
  int place = rank;
  std::vector<int> all(grid.sizes.size());
  for (std::size_t axis = all.size(); axis-- > 0; place /= grid.sizes[axis])
    all[axis] = place % grid.sizes[axis];
  return all;
}

//// a_line_for_each_axis
// Misconception: several axes are the lines along each of them.
// Replaces: slice
// Killed by: Part2Slice.along_several_axes
// Diagnosis: a_line_for_each_axis

Grid slice(const Grid& grid, const Names& axes, int rank) {
  Grid part = right_slice(grid, axes, rank);
  std::vector<int> lines;
  for (const int other : part.ranks) {
    for (const auto& axis : axes) {
      const auto line = right_slice(grid, {axis}, rank).ranks;
      if (std::ranges::count(line, other) > 0 && std::ranges::count(lines, other) == 0)
        lines.push_back(other);
    }
  }
  part.ranks = lines;
  return part;
}

//// moves_along_the_other_axes
// Misconception: the group of axis tp is the ranks with the same tp.
// Replaces: slice
// Killed by: Part2Slice.along_one_axis
// Diagnosis: moves_along_the_other_axes

Grid slice(const Grid& grid, const Names& axes, int rank) {
  Grid part = right_slice(grid, axes, rank);
  Names others;
  for (const auto& name : grid.names)
    if (!contains(axes, name)) others.push_back(name);
  part.ranks = right_slice(grid, others, rank).ranks;
  return part;
}

//// slice_of_the_first_rank
// Misconception: the grid has one slice along an axis: the one that begins at its first rank.
// Replaces: slice
// Killed by: Part2Slice.along_one_axis
// Diagnosis: from_the_first_rank

Grid slice(const Grid& grid, const Names& axes, int) { return right_slice(grid, axes, grid.ranks.front()); }

//// slices_in_ascending_order
// Misconception: the ranks of a slice are a set; their order means nothing.
// Replaces: slice
// Killed by: Part2Slice.ranks_in_any_order_and_axes_of_one
// Diagnosis: sorts_the_ranks

Grid slice(const Grid& grid, const Names& axes, int rank) {
  Grid part = right_slice(grid, axes, rank);
  std::ranges::sort(part.ranks);
  return part;
}

//// a_group_for_each_rank
// Misconception: every rank needs its group, so one is made for every rank.
// Replaces: make_mesh
// Killed by: Part3Groups.one_for_each_line
// Diagnosis: a_group_for_each_rank

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) {
    for (const int rank : grid.ranks) {
      const auto group = dist::new_group(slice(grid, {axis}, rank).ranks);
      if (rank == dist::get_rank()) mesh.groups[axis] = group;
    }
    mesh.groups[axis];
  }
  return mesh;
}

//// flatten_adds_an_axis
// Misconception: flattened axes are one more axis of the grid.
// Replaces: flatten
// Killed by: Part3Groups.of_flattened_axes
// Diagnosis: none

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  if (mesh.groups.contains(name)) return;
  right_flatten(mesh, axes, name);
  mesh.grid.names.push_back(name);
}

//// flattens_several_only
// Misconception: one axis alone needs no flattening, so there is nothing to do.
// Replaces: flatten
// Killed by: Part3Groups.of_flattened_axes
// Diagnosis: none

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  if (axes.size() > 1) right_flatten(mesh, axes, name);
}

//// flattens_twice
// Misconception: making a group once more does no harm.
// Replaces: flatten
// Killed by: Part3Groups.one_for_each_line
// Diagnosis: flattens_twice

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  mesh.groups[name] = make_lines(mesh.grid, axes);
}

//// keeps_the_last_group
// Misconception: new_group returns the group of the rank that calls it.
// Replaces: make_mesh
// Killed by: Part3Groups.of_each_axis
// Diagnosis: keeps_the_last_group

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) {
    for (const int rank : grid.ranks) {
      const auto line = slice(grid, {axis}, rank).ranks;
      if (line.front() == rank) mesh.groups[axis] = dist::new_group(line);
    }
  }
  return mesh;
}

//// last_axis_first
// Misconception: the last axis has the neighbouring ranks, so its groups are made first.
// Replaces: make_mesh
// Killed by: Part3Groups.of_each_axis
// Diagnosis: axes_in_another_order

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (std::size_t axis = grid.names.size(); axis-- > 0;)
    mesh.groups[grid.names[axis]] = make_lines(grid, {grid.names[axis]});
  return mesh;
}

//// no_group_for_one_rank
// Misconception: a rank that is alone has no other rank to communicate with, so it needs no group.
// Replaces: make_mesh
// Killed by: Part3Groups.of_each_axis
// Diagnosis: no_group_for_a_line_of_one

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (std::size_t axis = 0; axis < grid.names.size(); ++axis) {
    const std::string& name = grid.names[axis];
    mesh.groups[name] = grid.sizes[axis] > 1 ? make_lines(grid, {name}) : dist::ProcessGroup();
  }
  return mesh;
}

//// only_members_make_groups
// Misconception: a rank makes the groups that it is in, one for each axis.
// Replaces: make_mesh
// Killed by: Part3Groups.of_each_axis
// Diagnosis: groups_made_differently

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names)
    mesh.groups[axis] = dist::new_group(slice(grid, {axis}, dist::get_rank()).ranks);
  return mesh;
}

//// outsiders_keep_a_handle
// Misconception: new_group returns an empty handle to a rank that is not a member.
// Replaces: make_mesh
// Killed by: Part3Groups.of_some_of_the_ranks
// Diagnosis: keeps_the_last_group

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  const bool is_outside = coordinates(grid, dist::get_rank()).empty();
  for (const auto& axis : grid.names) {
    for (const int rank : grid.ranks) {
      const auto line = slice(grid, {axis}, rank).ranks;
      if (line.front() != rank) continue;
      const auto group = dist::new_group(line);
      if (is_outside || group.is_member()) mesh.groups[axis] = group;
    }
  }
  return mesh;
}

//// outsiders_stay_away
// Misconception: a rank that is not in the grid has nothing to do with its groups.
// Replaces: make_mesh
// Killed by: Part3Groups.of_some_of_the_ranks
// Diagnosis: groups_made_differently

Mesh make_mesh(const Grid& grid) {
  if (!coordinates(grid, dist::get_rank()).empty()) return right_make_mesh(grid);
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) mesh.groups[axis] = {};
  return mesh;
}

//// remembers_flattened_names
// Misconception: a name is flattened once in a program.
// Replaces: flatten
// Killed by: Part3Groups.of_flattened_axes
// Diagnosis: groups_of_another_mesh

void flatten(Mesh& mesh, const Names& axes, const std::string& name) {
  static std::map<std::string, dist::ProcessGroup> known;
  if (!known.contains(name)) known[name] = make_lines(mesh.grid, axes);
  mesh.groups[name] = known[name];
}

//// remembers_the_groups_of_an_axis
// Misconception: there is one mesh, so the groups of an axis are made once and for all.
// Replaces: make_mesh
// Killed by: Part3Groups.of_each_axis
// Diagnosis: groups_of_another_mesh

Mesh make_mesh(const Grid& grid) {
  static std::map<std::string, dist::ProcessGroup> known;
  Mesh mesh{grid, {}};
  for (const std::string& axis : grid.names) {
    if (!known.contains(axis)) known[axis] = make_lines(grid, {axis});
    mesh.groups[axis] = known[axis];
  }
  return mesh;
}

//// remembers_the_mesh_of_its_ranks
// Misconception: the ranks of a grid tell which mesh it is.
// Replaces: make_mesh
// Killed by: Part3Groups.of_each_axis
// Diagnosis: groups_of_another_mesh

Mesh make_mesh(const Grid& grid) {
  static std::map<std::vector<int>, Mesh> made;
  if (!made.contains(grid.ranks)) made[grid.ranks] = right_make_mesh(grid);
  return made[grid.ranks];
}

//// sorts_the_lines
// Misconception: new_group numbers the ranks of a group in ascending order anyway.
// Replaces: make_mesh
// Killed by: Part3Groups.of_some_of_the_ranks
// Diagnosis: sorts_the_ranks

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) {
    mesh.groups[axis] = {};
    for (const int rank : grid.ranks) {
      auto line = slice(grid, {axis}, rank).ranks;
      if (line.front() != rank) continue;
      std::ranges::sort(line);
      const auto group = dist::new_group(line);
      if (group.is_member()) mesh.groups[axis] = group;
    }
  }
  return mesh;
}

//// averages_both
// Misconception: the mean of all tokens is what ReduceOp::avg gives, for sums and for counts.
// Replaces: mean_loss
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: averages_the_tokens

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  dist::Tensor both = dist::tensor<double>({sum, static_cast<double>(tokens)});
  dist::all_reduce(both, dist::ReduceOp::avg, {.group = mesh.groups.at(data)});
  const auto all = both.to_vector<double>();
  return {all[0] / all[1], static_cast<std::int64_t>(all[1])};
}

//// counts_in_int
// Misconception: a number of tokens is an int. (Those of all ranks may be more than 2^31 - 1.)
// Replaces: mean_loss
// Killed by: Part4Loss.many_tokens_and_none
// Diagnosis: none

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const MeanLoss loss = right_mean_loss(mesh, data, sum, tokens);
  return {loss.mean, static_cast<int>(loss.tokens)};
}

//// counts_its_own_tokens
// Misconception: the number of tokens that belongs to a rank's result is the number of its own tokens.
// Replaces: mean_loss
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: counts_its_own_tokens

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  return {right_mean_loss(mesh, data, sum, tokens).mean, tokens};
}

//// mean_of_means
// Misconception: every rank has a mean, and the mean of all tokens is the mean of these.
// Replaces: mean_loss
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: mean_of_means

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const auto& group = mesh.groups.at(data);
  const auto count = static_cast<double>(tokens);
  const auto all = summed({sum / count, count}, group);
  return {all[0] / group.size(), static_cast<std::int64_t>(all[1])};
}

//// one_exchange_for_each_number
// Misconception: two numbers are two all_reduces.
// Replaces: mean_loss
// Killed by: Part4Loss.one_all_reduce
// Diagnosis: an_exchange_for_each_number

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const double all = summed({sum}, mesh.groups.at(data))[0];
  const double count = summed({static_cast<double>(tokens)}, mesh.groups.at(data))[0];
  return {all / count, static_cast<std::int64_t>(count)};
}

//// sends_f32
// Misconception: a tensor of f32 is precise enough for a loss.
// Replaces: mean_loss
// Killed by: Part4Loss.many_tokens_and_none
// Diagnosis: single_precision

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  dist::Tensor both = dist::tensor({static_cast<float>(sum), static_cast<float>(tokens)});
  dist::all_reduce(both, dist::ReduceOp::sum, {.group = mesh.groups.at(data)});
  const auto all = both.to_vector<double>();
  return {all[0] / all[1], static_cast<std::int64_t>(all[1])};
}

//// sums_over_all_ranks
// Misconception: all ranks take part in the step, so all of them count.
// Replaces: mean_loss
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: counts_every_rank

MeanLoss mean_loss(const Mesh&, const std::string&, double sum, std::int64_t tokens) {
  const auto all = summed({sum, static_cast<double>(tokens)}, {});
  return {all[0] / all[1], static_cast<std::int64_t>(all[1])};
}

//// sums_replicas_and_divides
// Misconception: tokens that several ranks have may be summed over all of them, and the sum divided by
// the number of copies.
// Replaces: mean_loss
// Killed by: Part4Loss.one_all_reduce
// Diagnosis: another_group

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const auto all = summed({sum, static_cast<double>(tokens)}, {});
  const int copies = dist::get_world_size() / mesh.groups.at(data).size();
  return {all[0] / all[1], static_cast<std::int64_t>(all[1]) / copies};
}

//// adds_what_the_others_have
// Misconception: the norm is this rank's own part, to which that of the others is added.
// Replaces: gradient_norm
// Killed by: Part5Norm.the_same_bits_on_all_ranks
// Diagnosis: different_bits

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (const auto& axis : mesh.grid.names) {
    std::vector<double> own(sums.size(), 0);
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) own[i] = sums[i];
    const auto all = summed(own, mesh.groups.at(axis));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      total += all[i] - own[i];
      sums[i] += all[i] - own[i];
    }
  }
  return std::sqrt(total);
}

//// always_scales
// Misconception: clipping gives the gradient the norm max_norm.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: always_scales

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  for (auto& gradient : gradients) gradient.values.mul_(max_norm / (norm + 1e-6));
  return norm;
}

//// an_all_reduce_for_each_gradient
// Misconception: every gradient is reduced by itself.
// Replaces: gradient_norm
// Killed by: Part5Norm.one_all_reduce_for_each_axis
// Diagnosis: an_all_reduce_for_each_gradient

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) {
    double sum = sum_of_squares(gradient.values);
    for (const auto& axis : gradient.sharded_over) sum = summed({sum}, mesh.groups.at(axis))[0];
    sums.push_back(sum);
  }
  return root_of_the_sum(sums);
}

//// changes_the_gradients
// Misconception: a gradient may be squared in place: the norm is all that is wanted.
// Replaces: gradient_norm
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: changes_the_gradients

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  const double norm = right_gradient_norm(mesh, gradients);
  for (const auto& gradient : gradients) {
    dist::Tensor squares = gradient.values;
    squares.mul_(squares);
  }
  return norm;
}

//// clips_by_its_own_norm
// Misconception: a rank limits the gradients that it has.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: clips_by_its_own_norm

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  const double norm = gradient_norm(mesh, gradients);
  for (auto& gradient : gradients)
    gradient.values.mul_(std::min(1.0, max_norm / (root_of_the_sum(sums) + 1e-6)));
  return norm;
}

//// clips_each_gradient
// Misconception: max_norm limits the gradient of each parameter.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: clips_each_gradient

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  for (auto& gradient : gradients) {
    const double of_one = gradient_norm(mesh, {gradient});
    gradient.values.mul_(std::min(1.0, max_norm / (of_one + 1e-6)));
  }
  return norm;
}

//// clips_only_above
// Misconception: gradients are clipped where their norm is above max_norm. (The formula has an epsilon, so it
// begins a little below.)
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: clips_only_above

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  if (norm <= max_norm) return norm;
  for (auto& gradient : gradients) gradient.values.mul_(max_norm / (norm + 1e-6));
  return norm;
}

//// computes_the_norm_twice
// Misconception: calling a collective once more does no harm.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_with_one_norm
// Diagnosis: computes_the_norm_twice

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double before = gradient_norm(mesh, gradients);
  const double factor = std::min(1.0, max_norm / (gradient_norm(mesh, gradients) + 1e-6));
  for (auto& gradient : gradients) gradient.values.mul_(factor);
  return before;
}

//// counts_replicas
// Misconception: the norm of all gradients is summed over all ranks.
// Replaces: gradient_norm
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: counts_replicas

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> everywhere = gradients;
  for (auto& gradient : everywhere) gradient.sharded_over = mesh.grid.names;
  return right_gradient_norm(mesh, everywhere);
}

//// epsilon_for_each_rank
// Misconception: every rank keeps its own norm from being 0.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: epsilon_for_each_rank

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  const double safe = norm + 1e-6 * static_cast<double>(mesh.grid.ranks.size());
  for (auto& gradient : gradients) gradient.values.mul_(std::min(1.0, max_norm / safe));
  return norm;
}

//// forgets_the_group_of_the_norm
// Misconception: the all_reduce of a loop over the axes goes along the axis of its turn.
// Replaces: gradient_norm
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: forgets_the_group

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;  // of the squares, of each gradient
  for (const Gradient& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  for (const std::string& axis : mesh.grid.names) {
    std::vector<double> parts;  // of the gradients that are sharded over this axis
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) parts.push_back(sums[i]);
    if (parts.empty()) continue;
    Tensor t = dist::tensor<double>(parts);
    dist::all_reduce(t);
    parts = t.to_vector<double>();
    std::size_t next = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) sums[i] = parts[next++];
  }
  double sum = 0;
  for (const double of_one : sums) sum += of_one;
  return std::sqrt(sum);
}

//// gives_no_gradients_back
// Misconception: clipped gradients have done their work, so the list is emptied for the next step.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: none

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = right_clip_gradients(mesh, gradients, max_norm);
  gradients.clear();
  return norm;
}

//// keeps_the_sums
// Misconception: a variable that is used in every step is made once.
// Replaces: gradient_norm
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: keeps_something

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;  // of the squares, of each gradient
  for (const Gradient& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  for (const std::string& axis : mesh.grid.names) {
    std::vector<double> parts;  // of the gradients that are sharded over this axis
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) parts.push_back(sums[i]);
    if (parts.empty()) continue;
    Tensor t = dist::tensor<double>(parts);
    dist::all_reduce(t, dist::ReduceOp::sum, {.group = mesh.groups.at(axis)});
    parts = t.to_vector<double>();
    std::size_t next = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) sums[i] = parts[next++];
  }
  static double sum = 0;
  for (const double of_one : sums) sum += of_one;
  return std::sqrt(sum);
}

//// new_tensors_for_the_clipped
// Misconception: the clipped gradients are an output, so they may be new tensors.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: not_in_place

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  for (Gradient& gradient : gradients) gradient.values = gradient.values.clone();
  return right_clip_gradients(mesh, gradients, max_norm);
}

//// norm_of_local_shards
// Misconception: a rank's gradients are the gradient.
// Replaces: gradient_norm
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: norm_of_local_shards

double gradient_norm(const Mesh&, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  return root_of_the_sum(sums);
}

//// one_axis_only
// Misconception: a parameter is sharded over one axis.
// Replaces: gradient_norm
// Killed by: Part5Norm.many_axes_and_empty_shards
// Diagnosis: one_axis_only

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> first = gradients;
  for (auto& gradient : first)
    if (gradient.sharded_over.size() > 1) gradient.sharded_over.resize(1);
  return right_gradient_norm(mesh, first);
}

//// reduces_over_replicas
// Misconception: every axis of the mesh takes part; a replicated gradient is averaged.
// Replaces: gradient_norm
// Killed by: Part5Norm.one_all_reduce_for_each_axis
// Diagnosis: reduces_over_replicas

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> weighted;
  for (const Gradient& gradient : gradients)
    weighted.push_back({gradient.values.clone(), gradient.sharded_over});
  for (const auto& axis : mesh.grid.names) {
    const auto is_sharded = [&](const Gradient& gradient) { return contains(gradient.sharded_over, axis); };
    if (std::ranges::any_of(gradients, is_sharded)) continue;
    for (Gradient& gradient : weighted) {
      gradient.values.div_(std::sqrt(mesh.groups.at(axis).size()));
      gradient.sharded_over.push_back(axis);
    }
  }
  return right_gradient_norm(mesh, weighted);
}

//// returns_the_norm_after
// Misconception: what clipping returns is the norm that the gradient has now.
// Replaces: clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: norm_after_clipping

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = right_clip_gradients(mesh, gradients, max_norm);
  return norm * std::min(1.0, max_norm / (norm + 1e-6));
}

//// root_before_the_sum
// Misconception: the norm of the whole is the sum of the norms of its shards.
// Replaces: gradient_norm
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: root_before_the_sum

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) {
    double norm = std::sqrt(sum_of_squares(gradient.values));
    for (const auto& axis : gradient.sharded_over) norm = summed({norm}, mesh.groups.at(axis))[0];
    sums.push_back(norm * norm);
  }
  return root_of_the_sum(sums);
}

//// sends_elements
// Misconception: all_reduce adds tensors, so it is given the squares of all elements.
// Replaces: gradient_norm
// Killed by: Part5Norm.one_all_reduce_for_each_axis
// Diagnosis: sends_elements

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<std::vector<double>> squares;
  for (const auto& gradient : gradients) {
    squares.push_back(gradient.values.to_vector<double>());
    for (double& element : squares.back()) element *= element;
  }
  for (const auto& axis : mesh.grid.names) {
    std::vector<double> all;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (contains(gradients[i].sharded_over, axis))
        all.insert(all.end(), squares[i].begin(), squares[i].end());
    if (all.empty()) continue;
    all = summed(all, mesh.groups.at(axis));
    auto next = all.begin();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!contains(gradients[i].sharded_over, axis)) continue;
      for (double& element : squares[i]) element = *next++;
    }
  }
  std::vector<double> sums;
  for (const auto& of_one : squares) sums.push_back(std::accumulate(of_one.begin(), of_one.end(), 0.0));
  return root_of_the_sum(sums);
}

//// skips_empty_shards
// Misconception: a rank that has no element of a gradient has nothing to add, so it need not call
// all_reduce.
// Replaces: gradient_norm
// Killed by: Part5Norm.many_axes_and_empty_shards
// Diagnosis: a_rank_stays_away

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> own;
  for (const auto& gradient : gradients)
    if (gradient.values.numel() > 0) own.push_back(gradient);
  return right_gradient_norm(mesh, own);
}

//// squares_along_the_first_axis
// Misconception: size(0) is the number of a tensor's elements.
// Replaces: gradient_norm, clip_gradients
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: none

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> seen;
  for (const Gradient& gradient : gradients) {
    const auto elements = gradient.values.to_vector<double>();
    const auto count = static_cast<std::ptrdiff_t>(gradient.values.size(0));
    const std::vector<double> first(elements.begin(), elements.begin() + count);
    seen.push_back({dist::tensor<double>(first), gradient.sharded_over});
  }
  return right_gradient_norm(mesh, seen);
}

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  for (Gradient& gradient : gradients) gradient.values.mul_(std::min(1.0, max_norm / (norm + 1e-6)));
  return norm;
}
