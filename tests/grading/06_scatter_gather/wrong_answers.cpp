// Wrong answers to lab 06, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>

#include "scatter_gather.h"

//// shared rows_with
// For wrong answers about the split within scatter_rows: the solution's function with another begin(rows,
// rank, n), which says where the part of `rank` begins.

template <class Begin>
Tensor rows_with(Begin begin, const Tensor& all, std::int64_t columns, int root) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor rows = dist::empty({1}, dist::DType::i64);
  const auto part = [&](int of) {
    const auto count = rows.item<std::int64_t>();
    return Part{begin(count, of, n), begin(count, of + 1, n) - begin(count, of, n)};
  };
  if (rank != root) {
    dist::recv(rows, root);
    Tensor mine = dist::empty({part(rank).count, columns});
    if (mine.numel() > 0) dist::recv(mine, root);
    return mine;
  }
  rows.fill_(static_cast<double>(all.size(0)));
  for (int peer = 0; peer < n; ++peer) {
    if (peer == root) continue;
    dist::send(rows, peer);
    if (part(peer).count > 0) dist::send(all.narrow(part(peer).first, part(peer).count), peer);
  }
  return all.narrow(part(root).first, part(root).count).clone();
}

//// shared tree_with
// For wrong answers about the tree: the solution's binomial tree, with other sizes of subtrees and another
// order of children.

// The relative ranks of a binomial tree of n.
struct Node {
  int place, bit, subtree;
};

inline Node node_of(const Places& places) {
  const int place = places.place_of(dist::get_rank());
  int bit = 1;
  while (bit < places.n && (place & bit) == 0) bit *= 2;
  return {place, bit, std::min(bit, places.n - place)};
}

// The distances of its children, the largest first.
inline std::vector<int> children_of(const Node& node) {
  std::vector<int> distances;
  for (int distance = node.bit / 2; distance > 0; distance /= 2) {
    if (distance < node.subtree) distances.push_back(distance);
  }
  return distances;
}

//// broadcast_and_slice
// Misconception: sending everything to every rank, which then slices out its part, is simple and gives the
// same result.
// Replaces: scatter
// Killed by: Part1Scatter.only_its_own_chunk
// Diagnosis: broadcast_and_slice

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  const int n = dist::get_world_size();
  const std::int64_t k = mine.numel();
  const Tensor all = dist::empty({n * k});
  for (int rank = 0; rank < n && dist::get_rank() == root; ++rank) {
    Tensor place = all.narrow(rank * k, k);
    place.copy_(list[static_cast<std::size_t>(rank)]);
  }
  for (int peer = 0; peer < n && dist::get_rank() == root; ++peer) {
    if (peer != root) dist::send(all, peer);
  }
  Tensor everything = all;
  if (dist::get_rank() != root) dist::recv(everything, root);
  mine.copy_(everything.narrow(dist::get_rank() * k, k));
}

//// list_on_all_ranks
// Misconception: every rank has the list, and its chunk is in it at its rank.
// Replaces: scatter
// Killed by: Part1Scatter.every_root
// Diagnosis: input_required_everywhere

#include <stdexcept>
#include SOLUTION

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  const auto n = static_cast<std::size_t>(dist::get_world_size());
  if (list.size() != n) throw std::invalid_argument("scatter: the list must hold one tensor a rank");
  right_scatter(mine, list, root);
}

//// own_share_forgotten
// Misconception: the root sends and the others receive, and that is all.
// Replaces: scatter
// Killed by: Part1Scatter.every_root
// Diagnosis: own_share_forgotten

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::recv(mine, root);
    return;
  }
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) dist::send(list[static_cast<std::size_t>(peer)], peer);
  }
}

//// own_share_shared
// Misconception: the root has its chunk in the list already, so `mine` may be that tensor.
// Replaces: scatter
// Killed by: Part1Scatter.every_root
// Diagnosis: not_in_place

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  right_scatter(mine, list, root);
  if (dist::get_rank() == root) mine = list[static_cast<std::size_t>(root)];
}

//// room_out_of_sight
// Misconception: memory that is not in a tensor costs nothing, so the other ranks' chunks may go into a
// std::vector.
// Replaces: scatter
// Killed by: Part1Scatter.only_its_own_chunk
// Diagnosis: room_for_everything

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  right_scatter(mine, list, root);
  if (dist::get_rank() == root) return;
  static std::vector<std::vector<float>> others;
  for (int rank = 0; rank < dist::get_world_size(); ++rank)
    others.emplace_back(static_cast<std::size_t>(mine.numel()), 0.0F);
}

//// scatter_from_any_rank
// Misconception: in a scatter only one rank sends, so a receive from any rank can only get its message. (In
// the next call another rank may be the root, and it may be faster.)
// Replaces: scatter
// Killed by: Part1Scatter.every_root
// Diagnosis: calls_mixed

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::recv(mine);
    return;
  }
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) dist::send(list[static_cast<std::size_t>(peer)], peer);
  }
  mine.copy_(list[static_cast<std::size_t>(root)]);
}

//// sends_to_itself
// Misconception: the root sends every rank its chunk, and it is one of them.
// Replaces: scatter
// Killed by: Part1Scatter.every_root
// Diagnosis: sends_to_itself

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() == root) {
    for (int peer = 0; peer < dist::get_world_size(); ++peer)
      dist::send(list[static_cast<std::size_t>(peer)], peer);
  }
  dist::recv(mine, root);
}

//// tree_for_flat
// Misconception: a scatter along a tree is faster, so it is a better answer to every part.
// Replaces: scatter
// Killed by: Part1Scatter.only_its_own_chunk
// Diagnosis: not_flat

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  Tensor all;
  if (dist::get_rank() == root) {
    all = dist::empty({dist::get_world_size() * mine.numel()});
    for (std::size_t r = 0; r < list.size(); ++r)
      all.narrow(static_cast<std::int64_t>(r) * mine.numel(), mine.numel()).copy_(list[r]);
  }
  tree_scatter(mine, all, root);
}

//// calls_mixed
// Misconception: a gather is n - 1 messages from any rank; the source of each says where it belongs.
// Replaces: gather
// Killed by: Part2Gather.calls_do_not_mix
// Diagnosis: calls_mixed

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::send(mine, root);
    return;
  }
  Tensor share = dist::empty_like(mine);
  for (int count = 1; count < dist::get_world_size(); ++count) {
    const int source = dist::recv(share).source_rank();
    list[static_cast<std::size_t>(source)].copy_(share);
  }
  list[static_cast<std::size_t>(root)].copy_(mine);
}

//// everybody_gathers
// Misconception: every rank gets the list, as with all_gather, and a rank that does not need it discards it.
// Replaces: gather
// Killed by: Part2Gather.only_its_own_chunk
// Diagnosis: everybody_gathers

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  for (int to = 0; to < dist::get_world_size(); ++to) {
    std::vector<Tensor> dropped;
    for (int i = 0; i < dist::get_world_size() && dist::get_rank() == to && to != root; ++i)
      dropped.push_back(dist::empty_like(mine));
    right_gather(mine, to == root ? list : dropped, to);
  }
}

//// gathers_out_of_sight
// Misconception: memory that is not in a tensor costs nothing, so every rank may have room for all chunks.
// Replaces: gather
// Killed by: Part2Gather.only_its_own_chunk
// Diagnosis: room_for_everything

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  const std::vector<std::byte> room(mine.nbytes() * static_cast<std::size_t>(dist::get_world_size()),
                                    std::byte{1});
  right_gather(mine, list, root);
  if (!room.empty() && room.back() != std::byte{1}) list.clear();
}

//// list_of_new_tensors
// Misconception: `list` is an output, so the function may fill it with tensors of its own.
// Replaces: gather
// Killed by: Part2Gather.every_root
// Diagnosis: not_in_place

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) return right_gather(mine, list, root);
  std::vector<Tensor> ours;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) ours.push_back(dist::empty_like(mine));
  right_gather(mine, ours, root);
  list = ours;
}

//// order_by_arrival
// Misconception: chunks may be received from any rank and stored in the order of arrival.
// Replaces: gather
// Killed by: Part2Gather.in_rank_order
// Diagnosis: order_by_arrival

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::send(mine, root);
    return;
  }
  for (int slot = 0; slot < dist::get_world_size(); ++slot) {
    if (slot != root) dist::recv(list[static_cast<std::size_t>(slot)]);
  }
  list[static_cast<std::size_t>(root)].copy_(mine);
}

//// room_for_the_list
// Misconception: every rank needs a list to gather into.
// Replaces: gather
// Killed by: Part2Gather.only_its_own_chunk
// Diagnosis: room_for_everything

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  std::vector<Tensor> mine_too;
  for (int i = 0; i < dist::get_world_size() && dist::get_rank() != root; ++i)
    mine_too.push_back(dist::zeros({mine.numel()}));
  right_gather(mine, list, root);
}

//// a_message_a_row
// Misconception: how many messages bring the rows makes no difference.
// Replaces: scatter_rows
// Killed by: Part3Rows.only_its_part
// Diagnosis: none

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor rows = dist::empty({1}, dist::DType::i64);
  if (rank != root) {
    dist::recv(rows, root);
    const auto count = part_of(rows.item<std::int64_t>(), rank, n).count;
    Tensor mine = dist::empty({count, columns});
    for (std::int64_t row = 0; row < count; ++row) {
      Tensor one = mine[row];
      dist::recv(one, root);
    }
    return mine;
  }
  rows.fill_(static_cast<double>(all.size(0)));
  for (int peer = 0; peer < n; ++peer) {
    if (peer == root) continue;
    const Part part = part_of(all.size(0), peer, n);
    dist::send(rows, peer);
    for (std::int64_t row = part.first; row < part.first + part.count; ++row) dist::send(all[row], peer);
  }
  const Part part = part_of(all.size(0), root, n);
  return all.narrow(part.first, part.count).clone();
}

//// dealt_in_turn
// Misconception: rows are dealt like cards: one to each rank, then again.
// Replaces: scatter_rows
// Killed by: Part3Rows.every_row
// Diagnosis: dealt_in_turn

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  if (dist::get_rank() != root) return right_scatter_rows(all, columns, root);
  const int n = dist::get_world_size();
  const Tensor dealt = dist::empty(all.shape());
  std::int64_t next = 0;
  for (int rank = 0; rank < n; ++rank) {
    for (std::int64_t row = rank; row < all.size(0); row += n, ++next) {
      Tensor place = dealt.narrow(next, 1);
      place.copy_(all.narrow(row, 1));
    }
  }
  return right_scatter_rows(dealt, columns, root);
}

//// last_takes_the_rest
// Misconception: the rows that are left over go to the last rank.
// Replaces: scatter_rows
// Uses: rows_with
// Killed by: Part3Rows.every_row
// Diagnosis: last_takes_the_rest

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const auto begin = [](std::int64_t rows, int rank, int n) { return rank == n ? rows : rank * (rows / n); };
  return rows_with(begin, all, columns, root);
}

//// longer_parts_elsewhere
// Misconception: it does not matter which parts are the larger ones.
// Replaces: scatter_rows
// Uses: rows_with
// Killed by: Part3Rows.every_row
// Diagnosis: longer_parts_not_first

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const auto begin = [](std::int64_t rows, int rank, int n) { return rank * rows / n; };
  return rows_with(begin, all, columns, root);
}

//// no_rows_no_tensor
// Misconception: a rank without rows has nothing to return.
// Replaces: scatter_rows
// Killed by: Part3Rows.few_rows
// Diagnosis: none

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const Tensor mine = right_scatter_rows(all, columns, root);
  return mine.numel() > 0 ? mine : Tensor();
}

//// remainder_dropped
// Misconception: rows / n rows per rank, n times, are all rows.
// Replaces: scatter_rows
// Killed by: Part3Rows.every_row
// Diagnosis: remainder_dropped

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const int n = dist::get_world_size();
  const auto whole = [&] { return all.narrow(0, all.size(0) / n * n); };
  return right_scatter_rows(dist::get_rank() == root ? whole() : all, columns, root);
}

//// rows_broadcast_and_slice
// Misconception: uneven parts cannot be scattered, so every rank gets all rows and slices out its part.
// Replaces: scatter_rows
// Killed by: Part3Rows.only_its_part
// Diagnosis: broadcast_and_slice

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor rows = dist::empty({1}, dist::DType::i64), everything = all;
  if (rank == root) {
    rows.fill_(static_cast<double>(all.size(0)));
    for (int peer = 0; peer < n; ++peer) {
      if (peer == root) continue;
      dist::send(rows, peer);
      dist::send(all, peer);
    }
  } else {
    dist::recv(rows, root);
    everything = dist::empty({rows.item<std::int64_t>(), columns});
    dist::recv(everything, root);
  }
  const Part part = part_of(everything.size(0), rank, n);
  return everything.narrow(part.first, part.count).clone();
}

//// rows_from_any_rank
// Misconception: the number of rows says who sends: the rows come from the source of the first message.
// Replaces: scatter_rows
// Killed by: Part3Rows.every_root
// Diagnosis: calls_mixed

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  if (dist::get_rank() == root) return right_scatter_rows(all, columns, root);
  Tensor rows = dist::empty({1}, dist::DType::i64);
  const int source = dist::recv(rows).source_rank();
  const Part part = part_of(rows.item<std::int64_t>(), dist::get_rank(), dist::get_world_size());
  Tensor mine = dist::empty({part.count, columns});
  if (part.count > 0) dist::recv(mine, source);
  return mine;
}

//// size_known_to_all
// Misconception: all ranks know the number of rows, because it is stored in the tensor.
// Replaces: scatter_rows
// Killed by: Part3Rows.every_row
// Diagnosis: input_required_everywhere

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const Part part = part_of(all.size(0), dist::get_rank(), dist::get_world_size());
  const Tensor mine = right_scatter_rows(all, columns, root);
  return mine.view({part.count, columns});
}

//// size_rounded_up
// Misconception: the size of a part is rounded up, and the last rank gets what is left.
// Replaces: scatter_rows
// Uses: rows_with
// Killed by: Part3Rows.every_row
// Diagnosis: size_rounded_up

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const auto begin = [](std::int64_t rows, int rank, int n) {
    return std::min(rows, rank * ((rows + n - 1) / n));
  };
  return rows_with(begin, all, columns, root);
}

//// view_of_the_batch
// Misconception: the root's part is in the batch already, so narrow() is enough.
// Replaces: scatter_rows
// Killed by: Part3Rows.every_row
// Diagnosis: view_of_the_batch

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const Tensor mine = right_scatter_rows(all, columns, root);
  if (dist::get_rank() != root) return mine;
  const Part part = part_of(all.size(0), root, dist::get_world_size());
  return all.narrow(part.first, part.count);
}

//// flat_for_a_tree
// Misconception: the root has all chunks, so only the root can send them.
// Replaces: tree_scatter
// Killed by: Part4Tree.few_rounds
// Diagnosis: flat_for_a_tree

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  std::vector<Tensor> list;
  for (int rank = 0; rank < dist::get_world_size() && dist::get_rank() == root; ++rank)
    list.push_back(all.narrow(rank * mine.numel(), mine.numel()));
  lab::scatter(mine, list, root);
}

//// forwards_everything
// Misconception: a tree for chunks is the tree of the broadcast: every rank receives everything and keeps its
// own chunk.
// Replaces: tree_scatter
// Uses: tree_with
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: forwards_everything

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  const std::int64_t k = mine.numel();
  Tensor everything = node.place == 0 ? all : dist::empty({places.n * k});
  if (node.place != 0) dist::recv(everything, places.rank_at(node.place - node.bit));
  for (const int distance : children_of(node)) dist::send(everything, places.rank_at(node.place + distance));
  mine.copy_(everything.narrow(dist::get_rank() * k, k));
}

//// one_message_a_share
// Misconception: every chunk is a message of its own on its path from rank to rank.
// Replaces: tree_scatter
// Uses: tree_with
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: one_message_a_share

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  const std::int64_t k = mine.numel();
  Tensor shares = node.place == 0 ? in_order_of_places(all, root * k) : dist::empty({node.subtree * k});
  for (int i = 0; i < node.subtree && node.place != 0; ++i) {
    Tensor share = shares.narrow(i * k, k);
    dist::recv(share, places.rank_at(node.place - node.bit));
  }
  for (const int distance : children_of(node)) {
    for (int i = distance; i < std::min(2 * distance, node.subtree); ++i)
      dist::send(shares.narrow(i * k, k), places.rank_at(node.place + distance));
  }
  mine.copy_(shares.narrow(0, k));
}

//// room_for_all_shares
// Misconception: a buffer for all chunks, of which the subtree fills a part, is the simplest.
// Replaces: tree_scatter
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: room_for_everything

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  Tensor room;
  if (dist::get_rank() != root) room = dist::zeros({dist::get_world_size() * mine.numel()});
  right_tree_scatter(mine, all, root);
}

//// root_0_assumed
// Misconception: the root of the tree is rank 0, as in the picture.
// Replaces: tree_scatter
// Killed by: Part4Tree.any_root
// Diagnosis: root_0_assumed

void tree_scatter(Tensor& mine, const Tensor& all, int) { right_tree_scatter(mine, all, 0); }

//// shares_by_place
// Misconception: relative ranks are counted from the root, and so are the chunks.
// Replaces: tree_scatter
// Killed by: Part4Tree.any_root
// Diagnosis: shares_by_place

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const bool turn_back = dist::get_rank() == root && root > 0;
  if (!turn_back) return right_tree_scatter(mine, all, root);
  const std::int64_t k = mine.numel(), before = root * k, behind = all.numel() - before;
  const Tensor turned = dist::empty({all.numel()});  // in_order_of_places() makes `all` of it
  Tensor front = turned.narrow(0, before), back = turned.narrow(before, behind);
  front.copy_(all.narrow(behind, before));
  back.copy_(all.narrow(0, behind));
  right_tree_scatter(mine, turned, root);
}

//// shares_counted_by_k
// Misconception: the number of chunks in a message is its length divided by k. (k may be 0.)
// Replaces: tree_scatter
// Killed by: Part4Tree.awkward_lengths
// Diagnosis: none

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  if (dist::get_rank() == root && all.numel() / mine.numel() != dist::get_world_size()) return;
  right_tree_scatter(mine, all, root);
}

//// smallest_subtree_first
// Misconception: the order in which a rank serves its children does not matter.
// Replaces: tree_scatter
// Uses: tree_with
// Killed by: Part4Tree.few_rounds
// Diagnosis: smallest_subtree_first

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  const std::int64_t k = mine.numel();
  Tensor shares = node.place == 0 ? in_order_of_places(all, root * k) : dist::empty({node.subtree * k});
  if (node.place != 0) dist::recv(shares, places.rank_at(node.place - node.bit));
  auto children = children_of(node);
  std::ranges::reverse(children);
  for (const int distance : children) {
    const int below = std::min(distance, node.subtree - distance);
    dist::send(shares.narrow(distance * k, below * k), places.rank_at(node.place + distance));
  }
  mine.copy_(shares.narrow(0, k));
}

//// subtree_from_any_rank
// Misconception: every rank of a tree receives one message, so a rank need not know its parent.
// Replaces: tree_scatter
// Uses: tree_with
// Killed by: Part4Tree.any_root
// Diagnosis: calls_mixed

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  if (node.place == 0) return right_tree_scatter(mine, all, root);
  const std::int64_t k = mine.numel();
  Tensor shares = node.subtree > 1 ? dist::empty({node.subtree * k}) : mine;
  dist::recv(shares);
  for (const int distance : children_of(node)) {
    const int below = std::min(distance, node.subtree - distance);
    dist::send(shares.narrow(distance * k, below * k), places.rank_at(node.place + distance));
  }
  if (node.subtree > 1) mine.copy_(shares.narrow(0, k));
}

//// subtrees_not_cut_off
// Misconception: the number of chunks in a subtree is a power of two.
// Replaces: tree_scatter
// Uses: tree_with
// Killed by: Part4Tree.any_number_of_ranks
// Diagnosis: power_of_two_assumed

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  const std::int64_t k = mine.numel();
  Tensor shares = node.place == 0 ? in_order_of_places(all, root * k) : dist::empty({node.bit * k});
  if (node.place != 0) dist::recv(shares, places.rank_at(node.place - node.bit));
  for (const int distance : children_of(node))
    dist::send(shares.narrow(distance * k, distance * k), places.rank_at(node.place + distance));
  mine.copy_(shares.narrow(0, k));
}

//// subtrees_out_of_sight
// Misconception: memory that is not in a tensor costs nothing, so every rank may have room for all chunks.
// Replaces: tree_scatter
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: room_for_everything

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const std::vector<std::byte> room(mine.nbytes() * static_cast<std::size_t>(dist::get_world_size()),
                                    std::byte{1});
  right_tree_scatter(mine, all, root);
  if (!room.empty() && room.back() != std::byte{1}) mine.zero_();
}

//// turns_the_input
// Misconception: the root may reorder `all` where it is, because it is the root's own tensor.
// Replaces: tree_scatter
// Killed by: Part4Tree.any_root
// Diagnosis: changes_its_input

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  if (dist::get_rank() != root) return right_tree_scatter(mine, all, root);
  const Tensor before = all.clone();
  Tensor same = all;
  same.copy_(in_order_of_places(before, root * mine.numel()));
  right_tree_scatter(mine, before, root);
}
