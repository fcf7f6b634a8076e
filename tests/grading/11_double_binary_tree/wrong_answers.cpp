// Wrong answers to lab 11, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "double_binary_tree.h"

//// heap_for_in_order
// Misconception: any binary tree will do, for example that of lab 10.
// Replaces: first_tree
// Killed by: Part1FirstTree.powers_of_two
// Diagnosis: heap_for_in_order

Place first_tree(int rank, int n) {
  Place place;
  if (rank > 0) place.parent = (rank - 1) / 2;
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < n) place.children.push_back(child);
  }
  return place;
}

//// largest_power_up_to_n
// Misconception: the only child of rank 0 is the largest power of two that is not above n. (For n = 8 there
// is no rank 8.)
// Replaces: first_tree
// Killed by: Part1FirstTree.powers_of_two
// Diagnosis: none

Place first_tree(int rank, int n) {
  Place place = right_first_tree(rank, n);
  if (rank == 0 && n > 1 && 2 * place.children[0] == n) place.children[0] = n;
  return place;
}

//// parent_that_does_not_exist
// Misconception: the parent has the next higher bit, whatever n is.
// Replaces: first_tree
// Killed by: Part1FirstTree.any_number_of_ranks
// Diagnosis: parent_that_does_not_exist

Place first_tree(int rank, int n) {
  Place place = right_first_tree(rank, n);
  const int bit = rank & -rank;
  if (rank > 0) place.parent = (rank ^ bit) | (2 * bit);
  return place;
}

//// right_child_lost
// Misconception: if rank + bit / 2 is not below n, there is no right child. (Its descendants then have no
// parent.)
// Replaces: first_tree
// Killed by: Part1FirstTree.any_number_of_ranks
// Diagnosis: right_child_lost

Place first_tree(int rank, int n) {
  Place place = right_first_tree(rank, n);
  const int half = (rank & -rank) / 2;
  if (rank > 0)
    std::erase_if(place.children, [&](int child) { return child > rank && child != rank + half; });
  return place;
}

//// mirrored_for_odd_n
// Misconception: the second tree is the mirror image of the first, whatever n is.
// Replaces: second_tree
// Killed by: Part2SecondTree.odd
// Diagnosis: mirrored_for_odd_n

Place second_tree(int rank, int n) {
  Place place = first_tree(n - 1 - rank, n);
  if (place.parent >= 0) place.parent = n - 1 - place.parent;
  for (int& child : place.children) child = n - 1 - child;
  return place;
}

//// places_for_ranks
// Misconception: a rank in the place of n - 1 - r has the parent and the children of n - 1 - r.
// Replaces: second_tree
// Killed by: Part2SecondTree.even
// Diagnosis: places_for_ranks

Place second_tree(int rank, int n) { return first_tree(n % 2 == 0 ? n - 1 - rank : (rank + n - 1) % n, n); }

//// same_tree_twice
// Misconception: two trees are two paths for the data, and they may be the same tree.
// Replaces: second_tree
// Killed by: Part2SecondTree.inner_in_one_tree_only
// Diagnosis: same_tree_twice

Place second_tree(int rank, int n) { return first_tree(rank, n); }

//// shifted_for_even_n
// Misconception: shifting by one turns inner ranks into leaves, whatever n is. (For even n this is as good,
// but it is not NCCL's tree.)
// Replaces: second_tree
// Killed by: Part2SecondTree.even
// Diagnosis: shifted_for_even_n

Place second_tree(int rank, int n) {
  Place place = first_tree((rank + n - 1) % n, n);
  if (place.parent >= 0) place.parent = (place.parent + 1) % n;
  for (int& child : place.children) child = (child + 1) % n;
  return place;
}

//// shifted_the_wrong_way
// Misconception: the direction of the shift does not matter.
// Replaces: second_tree
// Killed by: Part2SecondTree.odd
// Diagnosis: shifted_the_wrong_way

Place second_tree(int rank, int n) {
  if (n % 2 == 0) return right_second_tree(rank, n);
  Place place = first_tree((rank + 1) % n, n);
  if (place.parent >= 0) place.parent = (place.parent + n - 1) % n;
  for (int& child : place.children) child = (child + n - 1) % n;
  return place;
}

//// a_new_tensor
// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: not_in_place

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  data = data.clone();
  right_double_tree_all_reduce(data, segment);
}

//// f64_through_f32
// Misconception: partial sums are f32. The last digits of an f64 are lost on the way up.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.any_dtype
// Diagnosis: f64_through_f32

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  if (data.dtype() != dist::DType::f64) return right_double_tree_all_reduce(data, segment);
  Tensor sum = data.to(dist::DType::f32);
  right_double_tree_all_reduce(sum, segment);
  data.copy_(sum);
}

//// half_forgotten
// Misconception: the trees share the work, so each element travels in one of them. (The second tree was never
// used.)
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: half_forgotten

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  Tensor first = data.narrow(0, data.numel() / 2);
  right_double_tree_all_reduce(first, segment);
}

//// halves_in_sequence
// Misconception: the first half goes along the first tree, and then the second half goes along the second.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.both_at_once
// Diagnosis: one_half_after_the_other

// What the timetable says of one tree.
Phase of_tree(Phase phase, int tree) {
  std::erase_if(phase.sends, [&](const Hop& hop) { return hop.tree != tree; });
  std::erase_if(phase.receives, [&](const Hop& hop) { return hop.tree != tree; });
  return phase;
}

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data.chunk(2)[tree], segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  for (const int tree : {0, 1}) {
    for (int turn = 0; turn < turns; ++turn) {
      for (const Phase& phase : timetable(rank, n)) run_phase(of_tree(phase, tree), turn, halves, came);
    }
  }
}

//// halves_swapped
// Misconception: two trees carry two halves, whichever carries which.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.twice_the_data
// Diagnosis: halves_swapped

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data.chunk(2)[1 - tree], segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  const auto phases = timetable(rank, n);
  for (int turn = 0; turn < turns; ++turn) {
    for (const Phase& phase : phases) run_phase(phase, turn, halves, came);
  }
}

//// last_segment_dropped
// Misconception: there are numel / segment segments.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: none

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  Tensor whole = data.clone();
  right_double_tree_all_reduce(whole, segment);
  for (const std::size_t half : {0, 1}) {
    const auto length = data.chunk(2)[half].numel() / segment * segment;
    data.chunk(2)[half].narrow(0, length).copy_(whole.chunk(2)[half].narrow(0, length));
  }
}

//// not_in_halves
// Misconception: two trees at once are twice as fast, even if each carries all of the data.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: not_in_halves

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data, segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  for (int turn = 0; turn < turns; ++turn) {
    for (const Phase& phase : timetable(rank, n)) run_phase(phase, turn, halves, came);
  }
}

//// not_in_segments
// Misconception: two halves are two segments, and that is enough.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.twice_the_data
// Diagnosis: not_in_segments

void double_tree_all_reduce(Tensor& data, std::int64_t) {
  right_double_tree_all_reduce(data, std::max<std::int64_t>(1, data.numel()));
}

//// one_tree_for_all
// Misconception: only the sum matters, and the first tree computes it for all of the data.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.twice_the_data
// Diagnosis: one_tree_for_all

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  halves[0] = segments_of(data, segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  for (int turn = 0; turn < turns; ++turn) {
    for (const Phase& phase : timetable(rank, n)) run_phase(phase, turn, halves, came);
  }
}

//// sums_for_itself
// Misconception: a sum does not depend on the order, so every rank may add for itself, beginning with its
// own numbers.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order

void double_tree_all_reduce(Tensor& data, std::int64_t) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const Tensor mine = data.clone();
  for (int step = 1; step < n; ++step) {
    Tensor theirs = dist::empty_like(data);
    Work coming = dist::irecv(theirs, (rank + step) % n);
    dist::send(mine, (rank + n - step) % n);
    coming.wait();
    add(data, theirs);
  }
}

//// timetable_of_wrong_trees
// Misconception: a wrong place in the second tree matters in Part 2 only. (The timetable is made from it.)
// Replaces: second_tree
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: follows_from_the_trees

Place second_tree(int rank, int n) {
  return n % 2 == 0 ? first_tree(n - 1 - rank, n) : right_second_tree(rank, n);
}

//// waits_for_each_hop
// Misconception: a phase is a receive and a send, one after the other.
// Replaces: double_tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: waits_for_each_hop

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data.chunk(2)[tree], segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;
  Sums came;
  for (int turn = 0; turn < turns; ++turn) {
    for (const Phase& phase : timetable(rank, n)) {
      run_phase({{}, phase.receives}, turn, halves, came);
      run_phase({phase.sends, {}}, turn, halves, came);
    }
  }
}
