// Wrong answers to lab 02, in the order of its parts: tests/README.md says how they are written.

#include <limits>

#include "dist/core/fail.h"

#include "new_group.h"

//// keeps_only_its_own
// Misconception: a rank does not have to keep a group that it is not in; an empty handle means nothing.
// Replaces: make_halves
// Killed by: Part1Halves.even_world
// Diagnosis: empty_handle

Halves make_halves() {
  auto halves = right_make_halves();
  (halves.lower.is_member() ? halves.upper : halves.lower) = {};
  return halves;
}

//// last_rank_left_out
// Misconception: n is twice n / 2.
// Replaces: make_halves
// Killed by: Part1Halves.odd_world
// Diagnosis: last_rank_in_no_half

Halves make_halves() {
  const int half = dist::get_world_size() / 2;
  Halves halves;
  halves.lower = dist::new_group(ranks_from(0, half));
  halves.upper = dist::new_group(ranks_from(half, half));
  return halves;
}

//// only_members_make_the_group
// Misconception: a group is created by its members.
// Replaces: make_halves
// Killed by: Part1Halves.even_world
// Diagnosis: groups_made_differently

Halves make_halves() {
  const int n = dist::get_world_size(), lower = n - n / 2;
  Halves halves;
  if (dist::get_rank() < lower)
    halves.lower = dist::new_group(ranks_from(0, lower));
  else
    halves.upper = dist::new_group(ranks_from(lower, n - lower));
  return halves;
}

//// upper_half_larger
// Misconception: n / 2 is half of n, whatever n is.
// Replaces: make_halves
// Killed by: Part1Halves.odd_world
// Diagnosis: upper_half_larger

Halves make_halves() {
  const int n = dist::get_world_size(), lower = n / 2;
  Halves halves;
  halves.lower = dist::new_group(ranks_from(0, lower));
  halves.upper = dist::new_group(ranks_from(lower, n - lower));
  return halves;
}

//// everybody_sums_in_both
// Misconception: every rank creates every group, so every rank uses every group.
// Replaces: half_sum
// Killed by: Part2HalfSum.sums_its_half
// Diagnosis: used_by_a_non_member

double half_sum(const Halves& halves, double mine) {
  auto lower = dist::full({1}, mine, DType::f64), upper = dist::full({1}, mine, DType::f64);
  dist::all_reduce(lower, ReduceOp::sum, {.group = halves.lower});
  dist::all_reduce(upper, ReduceOp::sum, {.group = halves.upper});
  return (halves.lower.is_member() ? lower : upper).item<double>();
}

//// forgets_the_group
// Misconception: all_reduce knows which group was created last.
// Replaces: half_sum
// Killed by: Part2HalfSum.sums_its_half
// Diagnosis: sum_over_the_world

double half_sum(const Halves&, double mine) {
  auto sum = dist::full({1}, mine, DType::f64);
  dist::all_reduce(sum);
  return sum.item<double>();
}

//// gathers_the_world
// Misconception: every rank may get all numbers and add those of its half.
// Replaces: half_sum
// Killed by: Part2HalfSum.keeps_all_digits_and_stays_in_its_half
// Diagnosis: none

double half_sum(const Halves& halves, double mine) {
  std::vector<dist::Tensor> all;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) all.push_back(dist::empty({1}, dist::DType::f64));
  dist::all_gather(all, dist::full({1}, mine, dist::DType::f64));
  double sum = 0;
  for (const int rank : (halves.lower.is_member() ? halves.lower : halves.upper).ranks())
    sum += all[static_cast<std::size_t>(rank)].item<double>();
  return sum;
}

//// single_precision
// Misconception: a tensor made from a double holds doubles. The default dtype is f32, as in PyTorch.
// Replaces: half_sum
// Killed by: Part2HalfSum.keeps_all_digits_and_stays_in_its_half
// Diagnosis: rounded_to_f32

double half_sum(const Halves& halves, double mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum, ReduceOp::sum, {.group = my_half(halves)});
  return sum.item<double>();
}

//// absent_is_minus_a_million
// Misconception: no sum is below minus a million.
// Replaces: both_sums
// Killed by: Part3BothSums.negative_sums
// Diagnosis: lowest_number_guessed

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, -1e6, DType::f64);
  sums[halves.lower.is_member() ? 0 : 1].fill_(half_sum(halves, mine));
  dist::all_reduce(sums, ReduceOp::max);
  const auto both = sums.to_vector<double>();
  return {both[0], both[1]};
}

//// absent_starts_at_zero
// Misconception: a rank without the sum contributes zero. This is right for SUM, wrong for MAX.
// Replaces: both_sums
// Killed by: Part3BothSums.negative_sums
// Diagnosis: absent_starts_at_zero

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, 0, DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

//// lowest_of_float
// Misconception: the lowest float is below every number, doubles included.
// Replaces: both_sums
// Killed by: Part3BothSums.negative_sums
// Diagnosis: lowest_number_guessed

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, std::numeric_limits<float>::lowest(), DType::f64);
  sums[halves.lower.is_member() ? 0 : 1].fill_(half_sum(halves, mine));
  dist::all_reduce(sums, ReduceOp::max);
  const auto both = sums.to_vector<double>();
  return {both[0], both[1]};
}

//// max_within_the_half
// Misconception: the second exchange is among the same ranks as the first.
// Replaces: both_sums
// Killed by: Part3BothSums.positive_sums
// Diagnosis: max_within_the_half

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, -std::numeric_limits<double>::infinity(), DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max, {.group = my_half(halves)});
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

//// one_exchange_for_each_sum
// Misconception: two sums need two exchanges. The result is right, but it takes twice as long.
// Replaces: both_sums
// Killed by: Part3BothSums.one_exchange_for_both
// Diagnosis: one_exchange_for_each_sum

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  const double absent = -std::numeric_limits<double>::infinity(), sum = half_sum(halves, mine);
  const bool is_lower = halves.lower.is_member();
  auto lower = dist::full({1}, is_lower ? sum : absent, DType::f64);
  auto upper = dist::full({1}, is_lower ? absent : sum, DType::f64);
  dist::all_reduce(lower, ReduceOp::max);
  dist::all_reduce(upper, ReduceOp::max);
  return {lower.item<double>(), upper.item<double>()};
}

//// own_sum_first
// Misconception: element 0 is my half's sum, element 1 the other half's. The collective combines equal
// indices across ranks, so an index must mean the same on every rank.
// Replaces: both_sums
// Killed by: Part3BothSums.positive_sums
// Diagnosis: own_sum_first

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, -std::numeric_limits<double>::infinity(), DType::f64);
  sums.data<double>()[0] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

//// smallest_positive_as_lowest
// Misconception: numeric_limits::min() of a double is the lowest double, as that of an int is the lowest int.
// Replaces: both_sums
// Killed by: Part3BothSums.negative_sums
// Diagnosis: smallest_positive_as_lowest

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, std::numeric_limits<double>::min(), DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

//// sum_divided_again
// Misconception: adding a sum n times and dividing by n gives the sum back. The intermediate sum may be too
// large.
// Replaces: both_sums
// Killed by: Part3BothSums.negative_sums
// Diagnosis: sum_divided_again

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::zeros({2}, DType::f64);
  sums[halves.lower.is_member() ? 0 : 1].fill_(half_sum(halves, mine));
  dist::all_reduce(sums);
  const auto both = sums.to_vector<double>();
  return {both[0] / halves.lower.size(), both[1] / halves.upper.size()};
}

//// sum_instead_of_max
// Misconception: the two sums are put together by SUM.
// Replaces: both_sums
// Killed by: Part3BothSums.positive_sums
// Diagnosis: sum_instead_of_max

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, 0, DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::sum);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

//// column_by_column
// Misconception: the ranks of a mesh are numbered column by column, like a matrix in Fortran.
// Replaces: make_mesh
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: ranks_run_down_the_columns

Mesh make_mesh(int rows, int columns) {
  auto mesh = right_make_mesh(columns, rows);
  std::swap(mesh.row, mesh.column);
  std::swap(mesh.my_row, mesh.my_column);
  return mesh;
}

//// columns_first
// Misconception: the order in which a job makes its groups does not matter, as long as all ranks use the same
// order.
// Replaces: make_mesh
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: columns_first

Mesh make_mesh(int rows, int columns) {
  const int rank = dist::get_rank();
  if (rows <= 0 || columns <= 0 || rows * columns != dist::get_world_size())
    dist::fail(dist::Errc::invalid_argument, "{} x {} is no mesh of the world", rows, columns);
  Mesh mesh;
  mesh.my_row = rank / columns;
  mesh.my_column = rank % columns;
  for (int column = 0; column < columns; ++column) {
    const auto group = dist::new_group(ranks_from(column, rows, columns));
    if (column == mesh.my_column) mesh.column = group;
  }
  for (int row = 0; row < rows; ++row) {
    const auto group = dist::new_group(ranks_from(row * columns, columns));
    if (row == mesh.my_row) mesh.row = group;
  }
  return mesh;
}

//// makes_every_group_twice
// Misconception: creating a group that is not kept costs nothing.
// Replaces: make_mesh
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: more_groups_than_asked

Mesh make_mesh(int rows, int columns) {
  right_make_mesh(rows, columns);
  return right_make_mesh(rows, columns);
}

//// mesh_not_checked
// Misconception: the caller always passes a mesh that fits the number of ranks.
// Replaces: make_mesh
// Killed by: Part4Mesh.refuses_what_does_not_fit
// Diagnosis: mesh_not_checked

Mesh make_mesh(int rows, int columns) {
  const int rank = dist::get_rank();
  Mesh mesh;
  for (int row = 0; row < rows; ++row) {
    const auto group = dist::new_group(ranks_from(row * columns, columns));
    if (group.is_member()) mesh.row = group;
  }
  for (int column = 0; column < columns; ++column) {
    const auto group = dist::new_group(ranks_from(column, rows, columns));
    if (group.is_member()) mesh.column = group;
  }
  mesh.my_row = columns > 0 ? rank / columns : 0;
  mesh.my_column = columns > 0 ? rank % columns : 0;
  return mesh;
}

//// no_group_of_one
// Misconception: a rank that is alone in its column needs no group.
// Replaces: make_mesh
// Killed by: Part4Mesh.one_row_one_column
// Diagnosis: none

Mesh make_mesh(int rows, int columns) {
  Mesh mesh = right_make_mesh(rows, columns);
  if (rows == 1) mesh.column = {};
  return mesh;
}

//// own_row_only
// Misconception: a rank creates only the groups that it will use.
// Replaces: make_mesh
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: groups_made_differently

Mesh make_mesh(int rows, int columns) {
  const int rank = dist::get_rank();
  Mesh mesh;
  mesh.my_row = rank / columns;
  mesh.my_column = rank % columns;
  mesh.row = dist::new_group(ranks_from(mesh.my_row * columns, columns));
  mesh.column = dist::new_group(ranks_from(mesh.my_column, rows, columns));
  return mesh;
}

//// rows_backwards
// Misconception: every row is made, so the order does not matter.
// Replaces: make_mesh
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: rows_backwards

Mesh make_mesh(int rows, int columns) {
  if (rows < 1 || columns < 1 || rows * columns != dist::get_world_size())
    return right_make_mesh(rows, columns);
  const int rank = dist::get_rank();
  Mesh mesh{{}, {}, rank / columns, rank % columns};
  for (int row = rows; row-- > 0;) {
    std::vector<int> ranks;
    for (int column = 0; column < columns; ++column) ranks.push_back(row * columns + column);
    const auto group = dist::new_group(ranks);
    if (row == mesh.my_row) mesh.row = group;
  }
  for (int column = 0; column < columns; ++column) {
    std::vector<int> ranks;
    for (int row = 0; row < rows; ++row) ranks.push_back(row * columns + column);
    const auto group = dist::new_group(ranks);
    if (column == mesh.my_column) mesh.column = group;
  }
  return mesh;
}

//// square_mesh_assumed
// Misconception: rows and columns may be swapped in the arithmetic, because it works for 2 x 2.
// Replaces: make_mesh
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: square_mesh_assumed

Mesh make_mesh(int rows, int columns) { return right_make_mesh(columns, rows); }

//// answers_with_the_group_rank
// Misconception: a group rank means the same to every rank.
// Replaces: slowest_in_column
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: group_rank_as_global_rank

int slowest_in_column(const Mesh& mesh, double seconds) {
  return mesh.column.group_rank(right_slowest_in_column(mesh, seconds));
}

//// broadcast_into_a_copy
// Misconception: `t = ...` fills the caller's tensor.
// Replaces: broadcast_in_row
// Killed by: Part5Ranks.broadcast_in_row
// Diagnosis: another_name

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  auto copy = t.clone();
  right_broadcast_in_row(copy, mesh, column);
  t = copy;
}

//// gathers_all_seconds
// Misconception: every rank may get the seconds of all ranks and look at its column.
// Replaces: slowest_in_column
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: none

int slowest_in_column(const Mesh& mesh, double seconds) {
  std::vector<dist::Tensor> all;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) all.push_back(dist::empty({1}, dist::DType::f64));
  dist::all_gather(all, dist::full({1}, seconds, dist::DType::f64));
  const auto of = [&](int rank) { return all[static_cast<std::size_t>(rank)].item<double>(); };
  int slowest = mesh.column.ranks().front();
  for (const int rank : mesh.column.ranks())
    if (of(rank) > of(slowest)) slowest = rank;
  return slowest;
}

//// global_rank_as_group_rank
// Misconception: .group_src is the argument for groups, and it takes a global rank as all other arguments do.
// Replaces: broadcast_in_row
// Killed by: Part5Ranks.broadcast_in_row
// Diagnosis: global_rank_as_group_rank

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  dist::broadcast(t, 0, {.group = mesh.row, .group_src = mesh.row.global_rank(column)});
}

//// group_rank_as_global_rank
// Misconception: with .group, src is a rank of that group.
// Replaces: broadcast_in_row
// Killed by: Part5Ranks.broadcast_in_row
// Diagnosis: group_rank_as_global_rank

void broadcast_in_row(dist::Tensor& t, const Mesh& mesh, int column) {
  dist::broadcast(t, column, {.group = mesh.row});
}

//// last_of_equals
// Misconception: there is always exactly one slowest rank. If several are equally slow, MAX over the ranks
// returns the last.
// Replaces: slowest_in_column
// Killed by: Part5Ranks.the_first_of_equally_slow_ones
// Diagnosis: last_of_equals

int slowest_in_column(const Mesh& mesh, double seconds) {
  auto longest = dist::full({1}, seconds, DType::f64);
  dist::all_reduce(longest, ReduceOp::max, {.group = mesh.column});
  auto last = dist::full({1}, seconds == longest.item<double>() ? dist::get_rank() : -1, DType::i32);
  dist::all_reduce(last, ReduceOp::max, {.group = mesh.column});
  return last.item<int>();
}

//// seconds_through_f32
// Misconception: f32, the default dtype, is precise enough to compare seconds.
// Replaces: slowest_in_column
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: seconds_through_f32

int slowest_in_column(const Mesh& mesh, double seconds) {
  return right_slowest_in_column(mesh, static_cast<float>(seconds));
}

//// slowest_of_the_world
// Misconception: a collective over all ranks finds the slowest rank of my column.
// Replaces: slowest_in_column
// Killed by: Part5Ranks.slowest_in_column
// Diagnosis: slowest_of_the_world

int slowest_in_column(const Mesh&, double seconds) {
  auto longest = dist::full({1}, seconds, DType::f64);
  dist::all_reduce(longest, ReduceOp::max);
  const bool is_slowest = seconds == longest.item<double>();
  auto first = dist::full({1}, is_slowest ? dist::get_rank() : dist::get_world_size(), DType::i32);
  dist::all_reduce(first, ReduceOp::min);
  return first.item<int>();
}
