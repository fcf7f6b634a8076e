// Wrong answers to lab 05, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>

#include "broadcast.h"

//// shared update_with
// For wrong answers about the broadcast within update_weights: the solution's update_weights with another
// broadcast.

template <class Broadcast>
void update_with(Broadcast broadcast, std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                 const std::vector<int>& servers, std::int64_t bucket_elements,
                 bool sends_empty_buckets = false) {
  std::vector<int> members{trainers.at(0)};
  members.insert(members.end(), servers.begin(), servers.end());
  const auto group = dist::new_group(members);
  if (!group.is_member()) return;
  for (std::size_t first = 0; first < parameters.size();) {
    const Bucket bucket = next_bucket(parameters, first, bucket_elements);
    first = bucket.end;
    if (bucket.elements == 0 && !sends_empty_buckets) continue;
    Tensor flat = dist::empty({bucket.elements});
    if (group.rank() == 0) for_each_part(parameters, bucket, flat, pack);
    broadcast(flat, 0, group);
    if (group.rank() != 0) for_each_part(parameters, bucket, flat, unpack);
  }
}

//// a_new_tensor
// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
// Replaces: flat_broadcast
// Killed by: Part1Flat.every_root
// Diagnosis: not_in_place

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  Tensor received = data.clone();
  right_flat_broadcast(received, root, group);
  data = received;
}

//// flat_from_any_rank
// Misconception: in a broadcast only one rank sends, so a receive from any rank can only get its message.
// (In the next call another rank may be the root.)
// Replaces: flat_broadcast
// Killed by: Part1Flat.every_root
// Diagnosis: calls_mixed

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) == root) return right_flat_broadcast(data, root, group);
  dist::recv(data, {.group = group});
}

//// flat_ignores_the_group
// Misconception: the ranks of a group are the ranks of the world (flat_broadcast).
// Replaces: flat_broadcast
// Killed by: Part1Flat.every_root
// Diagnosis: ignores_the_group

void flat_broadcast(Tensor& data, int root, const ProcessGroup&) { right_flat_broadcast(data, root, {}); }

//// flat_through_f32
// Misconception: messages consist of f32 numbers.
// Replaces: flat_broadcast
// Killed by: Part1Flat.awkward_lengths
// Diagnosis: went_through_f32

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  auto numbers = data.to(dist::DType::f32);
  right_flat_broadcast(numbers, root, group);
  data.copy_(numbers.to(data.dtype()));
}

//// passed_on_by_everybody
// Misconception: a broadcast is right once every rank has the data, whichever rank sends it, so the flat one
// may be a tree.
// Replaces: flat_broadcast
// Killed by: Part1Flat.only_the_root_sends
// Diagnosis: not_flat

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) { tree_broadcast(data, root, group); }

//// sends_to_itself
// Misconception: the root sends to all ranks, and it is one of them.
// Replaces: flat_broadcast
// Killed by: Part1Flat.every_root
// Diagnosis: sends_to_itself

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) != root) {
    dist::recv(data, 0, {.group = group, .group_src = root});
    return;
  }
  for (int peer = 0; peer < dist::get_world_size(group); ++peer)
    dist::send(data, 0, {.group = group, .group_dst = peer});
}

//// size_of_the_world
// Misconception: a group has as many ranks as the world. (Its ranks are numbered anew, and fewer.)
// Replaces: flat_broadcast
// Killed by: Part1Flat.every_root
// Diagnosis: ignores_the_group

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) != root) return right_flat_broadcast(data, root, group);
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) dist::send(data, 0, {.group = group, .group_dst = peer});
  }
}

//// chain_for_a_tree
// Misconception: each rank that has the data sends it to the next rank, and this is all the help that a tree
// needs.
// Replaces: tree_broadcast
// Killed by: Part2Tree.few_rounds
// Diagnosis: chain_for_a_tree

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  chain_broadcast(data, root, std::max<std::int64_t>(data.numel(), 1), group);
}

//// children_that_do_not_exist
// Misconception: in round k each rank that has the data sends it 2^k ranks further, and modulo n that rank
// always exists.
// Replaces: tree_broadcast
// Killed by: Part2Tree.any_number_of_ranks
// Diagnosis: power_of_two_assumed

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  for (int have = 1; have < places.n; have *= 2) {
    if (place < have)
      dist::send(data, 0, {.group = group, .group_dst = places.rank_at(place + have)});
    else if (place < 2 * have)
      dist::recv(data, 0, {.group = group, .group_src = places.rank_at(place - have)});
  }
}

//// flat_for_a_tree
// Misconception: the root sends to all ranks, because only the root has the data.
// Replaces: tree_broadcast
// Killed by: Part2Tree.few_rounds
// Diagnosis: flat_for_a_tree

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) { flat_broadcast(data, root, group); }

//// ranks_behind_the_power_of_two
// Misconception: a tree has log2 n levels, rounded down.
// Replaces: tree_broadcast
// Killed by: Part2Tree.any_number_of_ranks
// Diagnosis: power_of_two_assumed

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  for (int have = 1; 2 * have <= places.n; have *= 2) {
    if (place < have)
      dist::send(data, 0, {.group = group, .group_dst = places.rank_at(place + have)});
    else if (place < 2 * have)
      dist::recv(data, 0, {.group = group, .group_src = places.rank_at(place - have)});
  }
}

//// root_0_assumed
// Misconception: the root of the tree is rank 0, as in the picture.
// Replaces: tree_broadcast
// Killed by: Part2Tree.any_root
// Diagnosis: root_0_assumed

void tree_broadcast(Tensor& data, int, const ProcessGroup& group) { right_tree_broadcast(data, 0, group); }

//// root_sends_tree_of_rank_0
// Misconception: it is enough that the root does not receive; the tree may remain that of rank 0.
// Replaces: tree_broadcast
// Killed by: Part2Tree.any_root
// Diagnosis: root_0_assumed

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const int rank = dist::get_rank(group), n = dist::get_world_size(group);
  int distance = 1;
  while (distance < n && (rank & distance) == 0) distance *= 2;
  if (rank != root) dist::recv(data, 0, {.group = group, .group_src = std::max(rank - distance, 0)});
  for (distance /= 2; distance > 0; distance /= 2) {
    if (rank + distance < n) dist::send(data, 0, {.group = group, .group_dst = rank + distance});
  }
}

//// smallest_subtree_first
// Misconception: the order in which a rank serves its children does not matter.
// Replaces: tree_broadcast
// Killed by: Part2Tree.few_rounds
// Diagnosis: smallest_subtree_first

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  int bit = 1;
  while (bit < places.n && (place & bit) == 0) bit *= 2;
  if (place != 0) dist::recv(data, 0, {.group = group, .group_src = places.rank_at(place - bit)});
  for (int distance = 1; distance < bit && place + distance < places.n; distance *= 2)
    dist::send(data, 0, {.group = group, .group_dst = places.rank_at(place + distance)});
}

//// through_f32
// Misconception: every number is an f32 or can be converted to one.
// Replaces: tree_broadcast
// Killed by: Part2Tree.awkward_lengths
// Diagnosis: went_through_f32

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  auto numbers = data.to(dist::DType::f32);
  right_tree_broadcast(numbers, root, group);
  data.copy_(numbers.to(data.dtype()));
}

//// tree_from_any_rank
// Misconception: every rank of a tree receives one message, so a rank need not know its parent.
// Replaces: tree_broadcast
// Killed by: Part2Tree.any_root
// Diagnosis: calls_mixed

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  int distance = 1;
  while (distance < places.n && (place & distance) == 0) distance *= 2;
  if (place != 0) dist::recv(data, {.group = group});
  for (distance /= 2; distance > 0; distance /= 2) {
    const int child = place + distance;
    if (child < places.n) dist::send(data, 0, {.group = group, .group_dst = places.rank_at(child)});
  }
}

//// tree_ignores_the_group
// Misconception: the ranks of a group are the ranks of the world (tree_broadcast).
// Replaces: tree_broadcast
// Killed by: Part2Tree.any_root
// Diagnosis: ignores_the_group

void tree_broadcast(Tensor& data, int root, const ProcessGroup&) { right_tree_broadcast(data, root, {}); }

//// all_in_one_message
// Misconception: a chain is a chain; segments are a matter of the network below.
// Replaces: chain_broadcast
// Killed by: Part3Chain.pipelined
// Diagnosis: not_in_segments

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  right_chain_broadcast(data, root, std::max(data.numel(), segment), group);
}

//// chain_ignores_the_group
// Misconception: the ranks of a group are the ranks of the world (chain_broadcast).
// Replaces: chain_broadcast
// Killed by: Part3Chain.any_root
// Diagnosis: ignores_the_group

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup&) {
  right_chain_broadcast(data, root, segment, {});
}

//// chain_through_f32
// Misconception: segments are cut from numbers, and every number is an f32.
// Replaces: chain_broadcast
// Killed by: Part3Chain.awkward_segments
// Diagnosis: went_through_f32

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  auto numbers = data.to(dist::DType::f32);
  right_chain_broadcast(numbers, root, segment, group);
  data.copy_(numbers.to(data.dtype()));
}

//// equal_segments
// Misconception: m segments are the data cut into m equal parts.
// Replaces: chain_broadcast
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: equal_segments

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  const int from = places.rank_at(place + places.n - 1), to = places.rank_at(place + 1);
  const Tensor flat = data.view({data.numel()});
  std::vector<Tensor> parts;
  if (flat.numel() > 0) parts = flat.chunk((flat.numel() + segment - 1) / segment);

  std::vector<Work> arriving(parts.size()), leaving;
  for (std::size_t i = 0; i < parts.size() && place > 0; ++i)
    arriving[i] = dist::irecv(parts[i], 0, {.group = group, .group_src = from});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    arriving[i].wait();
    if (place < places.n - 1) leaving.push_back(dist::isend(parts[i], 0, {.group = group, .group_dst = to}));
  }
  for (auto& work : leaving) work.wait();
}

//// last_segment_dropped
// Misconception: there are numel / segment segments.
// Replaces: chain_broadcast
// Killed by: Part3Chain.awkward_segments
// Diagnosis: last_segment_dropped

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  Tensor whole = data.view({data.numel()}).narrow(0, data.numel() / segment * segment);
  right_chain_broadcast(whole, root, segment, group);
}

//// minus_one_is_not_given
// Misconception: the group rank before mine is (rank - 1) % n, also for rank 0.
// Replaces: chain_broadcast
// Killed by: Part3Chain.any_root
// Diagnosis: minus_one_is_not_given

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const int n = dist::get_world_size(group), rank = dist::get_rank(group);
  const bool has_before = rank != root, has_after = (rank + 1) % n != root;
  const Tensor flat = data.view({data.numel()});
  for (std::int64_t start = 0; start < flat.numel(); start += segment) {
    Tensor part = flat.narrow(start, std::min(segment, flat.numel() - start));
    if (has_before) dist::recv(part, 0, {.group = group, .group_src = (rank - 1) % n});
    if (has_after) dist::send(part, 0, {.group = group, .group_dst = (rank + 1) % n});
  }
}

//// receives_and_sends_in_turns
// Misconception: a rank has finished with a segment when it is sent, and only then asks for the next one.
// Replaces: chain_broadcast
// Killed by: Part3Chain.pipelined
// Diagnosis: waits_before_the_next_segment

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  const Tensor flat = data.view({data.numel()});
  for (std::int64_t start = 0; start < flat.numel(); start += segment) {
    Tensor part = flat.narrow(start, std::min(segment, flat.numel() - start));
    if (place > 0) dist::recv(part, 0, {.group = group, .group_src = places.rank_at(place - 1)});
    if (place < places.n - 1) dist::send(part, 0, {.group = group, .group_dst = places.rank_at(place + 1)});
  }
}

//// ring_for_a_chain
// Misconception: the last rank sends as well, because rank 0 comes after rank n - 1.
// Replaces: chain_broadcast
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: ring_for_a_chain

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  right_chain_broadcast(data, root, segment, group);
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  if (places.n > 1 && place == places.n - 1) dist::send(data, 0, {.group = group, .group_dst = root});
  if (places.n > 1 && place == 0)
    dist::recv(data, 0, {.group = group, .group_src = places.rank_at(places.n - 1)});
}

//// root_serves_everybody
// Misconception: segments alone make a pipeline, even if the root sends each one to every rank.
// Replaces: chain_broadcast
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: root_serves_everybody

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Tensor flat = data.view({data.numel()});
  for (std::int64_t start = 0; start < flat.numel(); start += segment) {
    Tensor part = flat.narrow(start, std::min(segment, flat.numel() - start));
    flat_broadcast(part, root, group);
  }
}

//// sends_an_empty_segment
// Misconception: the number of segments is a quotient of integers plus one for the rest.
// Replaces: chain_broadcast
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: sends_an_empty_segment

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  const int from = places.rank_at(place + places.n - 1), to = places.rank_at(place + 1);
  const Tensor flat = data.view({data.numel()});
  std::vector<Tensor> parts;
  for (std::int64_t start = 0; start <= flat.numel(); start += segment)
    parts.push_back(flat.narrow(start, std::min(segment, flat.numel() - start)));

  std::vector<Work> arriving(parts.size()), leaving;
  for (std::size_t i = 0; i < parts.size() && place > 0; ++i)
    arriving[i] = dist::irecv(parts[i], 0, {.group = group, .group_src = from});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    arriving[i].wait();
    if (place < places.n - 1) leaving.push_back(dist::isend(parts[i], 0, {.group = group, .group_dst = to}));
  }
  for (auto& work : leaving) work.wait();
}

//// bucket_limit_ignored
// Misconception: the fewer messages the better, so everything goes into one.
// Replaces: update_weights
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: bucket_limit_ignored

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  right_update_weights(parameters, trainers, servers, 1000 * bucket_elements);
}

//// group_rank_as_global_rank
// Misconception: with .group, dst is a rank of that group.
// Replaces: update_weights
// Uses: update_with
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: group_rank_as_global_rank

namespace {

void broadcast_by_group_ranks(Tensor& data, int root, const ProcessGroup& group) {
  if (group.rank() != root) {
    dist::recv(data, root, {.group = group});
    return;
  }
  for (int peer = 0; peer < group.size(); ++peer) {
    if (peer != root) dist::send(data, peer, {.group = group});
  }
}

}  // namespace

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  update_with(broadcast_by_group_ranks, parameters, trainers, servers, bucket_elements);
}

//// keeps_the_first_group
// Misconception: the servers are always the same ranks, so their group is made once.
// Replaces: update_weights
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: none

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  static const std::vector<int> first_trainers = trainers, first_servers = servers;
  right_update_weights(parameters, first_trainers, first_servers, bucket_elements);
}

//// large_tensor_left_out
// Misconception: no tensor is larger than a bucket.
// Replaces: update_weights
// Killed by: Part4Update.any_ranks_and_shapes
// Diagnosis: large_tensor_left_out

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> small;
  for (const auto& parameter : parameters) {
    if (parameter.numel() <= bucket_elements) small.push_back(parameter);
  }
  right_update_weights(small, trainers, servers, bucket_elements);
}

//// last_bucket_forgotten
// Misconception: a bucket is sent when the next tensor does not fit. After the last tensor no tensor follows.
// Replaces: update_weights
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: last_bucket_forgotten

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> sent;
  for (std::size_t first = 0; first < parameters.size();) {
    const auto bucket = next_bucket(parameters, first, bucket_elements);
    first = bucket.end;
    if (bucket.end == parameters.size()) break;
    for (std::size_t i = bucket.first; i < bucket.end; ++i) sent.push_back(parameters[i]);
  }
  right_update_weights(sent, trainers, servers, bucket_elements);
}

//// never_quite_full
// Misconception: a bucket is full when it holds bucket_elements elements, so a tensor that would fill it
// starts the next one.
// Replaces: update_weights
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: none

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  right_update_weights(parameters, trainers, servers, bucket_elements - 1);
}

//// no_axis_no_tensor
// Misconception: a tensor without an axis has no elements.
// Replaces: update_weights
// Killed by: Part4Update.any_ranks_and_shapes
// Diagnosis: no_axis_no_tensor

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> with_axes;
  for (const auto& parameter : parameters) {
    if (parameter.dim() > 0) with_axes.push_back(parameter);
  }
  right_update_weights(with_axes, trainers, servers, bucket_elements);
}

//// not_unpacked
// Misconception: the bucket is a view of the tensors that were packed into it.
// Replaces: update_weights
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: not_unpacked

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> copies;
  for (const auto& parameter : parameters) copies.push_back(parameter.clone());
  right_update_weights(copies, trainers, servers, bucket_elements);
}

//// one_message_a_tensor
// Misconception: every tensor is a message of its own.
// Replaces: update_weights
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: one_message_a_tensor

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  right_update_weights(parameters, trainers, servers, std::min<std::int64_t>(bucket_elements, 1));
}

//// only_members_make_the_group
// Misconception: only the ranks of a group call new_group.
// Replaces: update_weights
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: only_members_make_the_group

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  const int rank = dist::get_rank();
  if (rank != trainers[0] && std::ranges::find(servers, rank) == servers.end()) return;
  right_update_weights(parameters, trainers, servers, bucket_elements);
}

//// parameters_replaced
// Misconception: parameters are a list, and a new tensor in the list is a new parameter.
// Replaces: update_weights
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: not_in_place

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  for (auto& parameter : parameters) parameter = parameter.clone();
  right_update_weights(parameters, trainers, servers, bucket_elements);
}

//// sends_empty_buckets
// Misconception: every bucket is sent, also one without elements.
// Replaces: update_weights
// Uses: update_with
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: sends_empty_buckets

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  update_with(tree_broadcast, parameters, trainers, servers, bucket_elements, true);
}

//// sorts_the_members
// Misconception: a group is a set of ranks, so its first rank is the smallest. (new_group keeps the order
// that it is given.)
// Replaces: update_weights
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: none

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<int> members(servers), others;
  members.push_back(trainers.at(0));
  std::ranges::sort(members);
  others.assign(members.begin() + 1, members.end());
  right_update_weights(parameters, {members.front()}, others, bucket_elements);
}

//// trainer_serves_everybody
// Misconception: the new weights come from the trainer, so the trainer sends them to every server.
// Replaces: update_weights
// Uses: update_with
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: trainer_serves_everybody

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  update_with(flat_broadcast, parameters, trainers, servers, bucket_elements);
}

//// trainers_take_part
// Misconception: it is harmless if the trainers receive their weights once more.
// Replaces: update_weights
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: trainers_take_part

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  auto all = servers;
  all.insert(all.begin(), trainers.begin() + 1, trainers.end());
  right_update_weights(parameters, {trainers[0]}, all, bucket_elements);
}
