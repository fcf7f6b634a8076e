// Wrong answers to lab 10, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <bit>
#include <vector>

#include "tree_all_reduce.h"

//// binomial_tree
// Misconception: the tree of lab 07 has ceil(log2 n) levels, so it will do. (Its root has as many children.)
// Replaces: tree_place
// Killed by: Part1Place.full_trees
// Diagnosis: too_many_children

Place tree_place(int rank, int n) {
  Place place;
  if (rank > 0) place.parent = rank & (rank - 1);
  for (int bit = 1; bit < n && (rank & bit) == 0; bit *= 2) {
    if (rank + bit < n) place.children.push_back(rank + bit);
  }
  return place;
}

//// chain_for_a_tree
// Misconception: every rank has one parent and one child.
// Replaces: tree_place
// Killed by: Part1Place.a_thousand_ranks
// Diagnosis: chain_for_a_tree

Place tree_place(int rank, int n) {
  Place place;
  place.parent = rank - 1;
  if (rank + 1 < n) place.children = {rank + 1};
  return place;
}

//// flat_for_a_tree
// Misconception: a tree with one level is the flattest one, so all other ranks are children of the root.
// Replaces: tree_place
// Killed by: Part1Place.full_trees
// Diagnosis: too_many_children

Place tree_place(int rank, int n) {
  Place place;
  if (rank > 0) place.parent = 0;
  for (int child = 1; rank == 0 && child < n; ++child) place.children.push_back(child);
  return place;
}

//// full_tree_assumed
// Misconception: every rank that is not in the last row has two children.
// Replaces: tree_place
// Killed by: Part1Place.any_number_of_ranks
// Diagnosis: children_that_do_not_exist

Place tree_place(int rank, int n) {
  Place place = right_tree_place(rank, n);
  if (!place.children.empty()) place.children = {2 * rank + 1, 2 * rank + 2};
  return place;
}

//// parent_of_another_tree
// Misconception: the parent of r is r / 2 and its children are 2r + 1 and 2r + 2. (The parent r / 2 belongs
// to the children 2r and 2r + 1.)
// Replaces: tree_place
// Killed by: Part1Place.full_trees
// Diagnosis: parent_and_children_disagree

Place tree_place(int rank, int n) {
  Place place = right_tree_place(rank, n);
  if (rank > 0) place.parent = rank / 2 == rank ? 0 : rank / 2;
  return place;
}

//// chain_up
// Misconception: every rank adds its numbers and passes the sum on; a link is used once, as in a tree.
// Replaces: reduce_to_root
// Killed by: Part2Reduce.few_rounds
// Diagnosis: tree_too_deep

void reduce_to_root(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank + 1 < n) {
    Tensor inbox = dist::empty_like(data);
    dist::recv(inbox, rank + 1);
    add(data, inbox);
  }
  if (rank > 0) dist::send(data, rank - 1);
}

//// everybody_to_the_root
// Misconception: only the root needs the sum, so every rank sends to the root. (The result is right.)
// Replaces: reduce_to_root
// Killed by: Part2Reduce.once_up_each_link
// Diagnosis: root_serves_everybody

void reduce_to_root(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor inbox = dist::empty_like(data);
  for (int other = 1; rank == 0 && other < n; ++other) {
    dist::recv(inbox, other);
    add(data, inbox);
  }
  if (rank > 0) dist::send(data, 0);
}

//// f64_through_f32
// Misconception: partial sums are f32. The last digits of an f64 are lost on the way up.
// Replaces: reduce_to_root
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: f64_through_f32

void reduce_to_root(Tensor& data) {
  if (data.dtype() != dist::DType::f64) return right_reduce_to_root(data);
  Tensor sum = data.to(dist::DType::f32);
  right_reduce_to_root(sum);
  data.copy_(sum);
}

//// lab_07s_tree_up
// Misconception: any tree with ceil(log2 n) levels will do, so lab 07's way up is good enough. (Its root
// receives that many messages.)
// Replaces: reduce_to_root
// Killed by: Part2Reduce.once_up_each_link
// Diagnosis: too_many_children

void reduce_to_root(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor inbox = dist::empty_like(data);
  for (int bit = 1; bit < n; bit *= 2) {
    if (rank & bit) return void(dist::send(data, rank - bit));
    if (rank + bit >= n) continue;
    dist::recv(inbox, rank + bit);
    add(data, inbox);
  }
}

//// one_inbox_for_two
// Misconception: both children's receives may be started at once, so one buffer may take both.
// Replaces: reduce_to_root
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: one_place_for_two

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  Tensor inbox = dist::empty_like(data);
  std::vector<Work> arrivals;
  for (const int child : place.children) arrivals.push_back(dist::irecv(inbox, child));
  for (Work& arrival : arrivals) {
    arrival.wait();
    add(data, inbox);
  }
  if (place.parent >= 0) dist::send(data, place.parent);
}

//// overwrites_its_own
// Misconception: the sum is computed in data, so the children's sums are received there.
// Replaces: reduce_to_root
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: overwrites_its_own

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  for (const int child : place.children) dist::recv(data, child);
  if (place.parent >= 0) dist::send(data, place.parent);
}

//// sums_what_comes
// Misconception: a sum does not depend on the order, so a rank adds what comes, from any rank. (A faster
// child may be in its next call.)
// Replaces: reduce_to_root
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: none

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  Tensor inbox = dist::empty_like(data);
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    dist::recv(inbox);
    add(data, inbox);
  }
  if (place.parent >= 0) dist::send(data, place.parent);
}

//// a_new_tensor
// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: not_in_place

void tree_all_reduce(Tensor& data) {
  data = data.clone();
  right_tree_all_reduce(data);
}

//// chain_up_and_down
// Misconception: every link is used once up and once down, so a chain will do.
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.few_rounds
// Diagnosis: tree_too_deep

void tree_all_reduce(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank + 1 < n) {
    Tensor inbox = dist::empty_like(data);
    dist::recv(inbox, rank + 1);
    add(data, inbox);
  }
  if (rank > 0) {
    dist::send(data, rank - 1);
    dist::recv(data, rank - 1);
  }
  if (rank + 1 < n) dist::send(data, rank + 1);
}

//// each_subtree_for_itself
// Misconception: a sum does not depend on the order, so the rest of the tree may be added on the way down.
// (Every rank then adds in another order.)
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order

void tree_all_reduce(Tensor& data) {
  // The parent sends the sum of everything outside the child's subtree.
  const Place place = my_place();
  std::vector<Tensor> parts{data.clone()};
  for (const int child : place.children) {
    Tensor inbox = dist::empty_like(data);
    dist::recv(inbox, child);
    add(data, inbox);
    parts.push_back(inbox);
  }
  if (place.parent >= 0) {
    Tensor rest = dist::empty_like(data);
    dist::send(data, place.parent);
    dist::recv(rest, place.parent);
    add(data, rest);
    parts.push_back(rest);
  }
  for (std::size_t c = 0; c < place.children.size(); ++c) {
    Tensor others = dist::zeros_like(data);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != c + 1) add(others, parts[i]);
    }
    dist::send(others, place.children[c]);
  }
}

//// lab_07s_tree_up_and_down
// Misconception: lab 07's function summed up a tree and broadcast the result, so the same function will do
// here.
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.once_up_once_down
// Diagnosis: too_many_children

void tree_all_reduce(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int lowest = rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))) : rank & -rank;
  Tensor inbox = dist::empty_like(data);
  for (int bit = 1; bit < lowest; bit *= 2) {
    if (rank + bit >= n) continue;
    dist::recv(inbox, rank + bit);
    add(data, inbox);
  }
  if (rank > 0) {
    dist::send(data, rank - lowest);
    dist::recv(data, rank - lowest);
  }
  for (int bit = lowest / 2; bit > 0; bit /= 2)
    if (rank + bit < n) dist::send(data, rank + bit);
}

//// result_on_rank_0_only
// Misconception: an all_reduce is finished when the reduce is finished.
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: result_on_rank_0_only

void tree_all_reduce(Tensor& data) { reduce_to_root(data); }

//// root_sends_to_all
// Misconception: only the root has the result, so it sends it to every rank.
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.once_up_once_down
// Diagnosis: root_serves_everybody

void tree_all_reduce(Tensor& data) {
  reduce_to_root(data);
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank > 0) dist::recv(data, 0);
  for (int other = 1; rank == 0 && other < n; ++other) dist::send(data, other);
}

//// root_sends_twice
// Misconception: a rank sends the sum of its subtree down at once, and the root's sum follows later. (Every
// link is used twice on the way down.)
// Replaces: tree_all_reduce
// Killed by: Part3AllReduce.once_up_once_down
// Diagnosis: link_used_twice

void tree_all_reduce(Tensor& data) {
  reduce_to_root(data);
  const Place place = my_place();
  for (const int child : place.children) dist::send(data, child);
  if (place.parent >= 0) {
    Tensor partial = dist::empty_like(data);
    dist::recv(partial, place.parent);
  }
  broadcast_from_root(data);
}

//// down_waits_for_up
// Misconception: first all segments are reduced, then all segments are broadcast, and each half is pipelined.
// Replaces: tree_all_reduce_pipelined
// Killed by: Part4Pipelined.up_and_down_at_once
// Diagnosis: down_waits_for_up

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Pipeline tree(data, segment);
  for (std::size_t s = 0; s < tree.parts.size(); ++s) tree.up(s);
  for (std::size_t s = 0; s < tree.parts.size(); ++s) tree.down(s);
  tree.finish();
}

//// last_segment_dropped
// Misconception: there are numel / segment segments.
// Replaces: tree_all_reduce_pipelined
// Killed by: Part4Pipelined.any_number_of_ranks
// Diagnosis: last_segment_dropped

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Tensor whole = data.narrow(0, data.numel() / segment * segment);
  right_tree_all_reduce_pipelined(whole, segment);
}

//// not_in_segments
// Misconception: segments are optional, because the result is the same without them.
// Replaces: tree_all_reduce_pipelined
// Killed by: Part4Pipelined.each_segment_once_up_once_down
// Diagnosis: not_in_segments

void tree_all_reduce_pipelined(Tensor& data, std::int64_t) { tree_all_reduce(data); }

//// waits_for_each_segment
// Misconception: segments alone make a pipeline.
// Replaces: tree_all_reduce_pipelined
// Killed by: Part4Pipelined.up_and_down_at_once
// Diagnosis: waits_for_each_segment

void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  for (Tensor& part : segments_of(data, segment)) tree_all_reduce(part);
}
