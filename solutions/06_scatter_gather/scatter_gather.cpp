// Lab 06, the solution. NOTES.md explains it.
#include "scatter_gather.h"

#include <algorithm>
#include <span>

namespace lab {

using dist::Tensor, dist::Work;

namespace {

void wait_all(std::span<Work> works) {
  for (Work& work : works) work.wait();
}

}  // namespace

// In Parts 1 to 3 all messages of the root are under way at the same time, so that no rank waits for a slower
// rank with a smaller number.
void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::recv(mine, root);
    return;
  }
  std::vector<Work> leaving;
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) leaving.push_back(dist::isend(list[static_cast<std::size_t>(peer)], peer));
  }
  mine.copy_(list[static_cast<std::size_t>(root)]);
  wait_all(leaving);
}

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::send(mine, root);
    return;
  }
  std::vector<Work> arriving;
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) arriving.push_back(dist::irecv(list[static_cast<std::size_t>(peer)], peer));
  }
  list[static_cast<std::size_t>(root)].copy_(mine);
  wait_all(arriving);
}

namespace {

struct Part {
  std::int64_t first, count;
};

// The first rows % n ranks have one row more than the others.
Part part_of(std::int64_t rows, int rank, int n) {
  const std::int64_t least = rows / n, longer = rows % n;
  return {rank * least + std::min<std::int64_t>(rank, longer), least + (rank < longer ? 1 : 0)};
}

Tensor receive_rows(std::int64_t columns, int root) {
  Tensor rows = dist::empty({1}, dist::DType::i64);
  dist::recv(rows, root);
  const Part part = part_of(rows.item<std::int64_t>(), dist::get_rank(), dist::get_world_size());
  Tensor mine = dist::empty({part.count, columns});
  if (part.count > 0) dist::recv(mine, root);
  return mine;
}

}  // namespace

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  if (dist::get_rank() != root) return receive_rows(columns, root);
  const int n = dist::get_world_size();
  const Tensor rows = dist::tensor({all.size(0)});
  std::vector<Work> leaving;
  for (int peer = 0; peer < n; ++peer) {
    if (peer == root) continue;
    const Part part = part_of(all.size(0), peer, n);
    leaving.push_back(dist::isend(rows, peer));
    if (part.count > 0) leaving.push_back(dist::isend(all.narrow(part.first, part.count), peer));
  }
  const Part part = part_of(all.size(0), root, n);
  Tensor mine = all.narrow(part.first, part.count).clone();
  wait_all(leaving);
  return mine;
}

namespace {

// Relative ranks, called places here: a rank's number counted from the root, and the reverse.
struct Places {
  int root, n;
  int place_of(int rank) const { return (rank - root + n) % n; }
  int rank_at(int place) const { return (root + place) % n; }
};

// All chunks in the order of relative ranks, the root's own first. A subtree is a run of relative ranks, but
// not always a run of ranks.
Tensor in_order_of_places(const Tensor& all, std::int64_t root_begin) {
  if (root_begin == 0) return all;
  const std::int64_t behind = all.numel() - root_begin;
  const Tensor turned = dist::empty({all.numel()});
  Tensor front = turned.narrow(0, behind), back = turned.narrow(behind, root_begin);
  front.copy_(all.narrow(root_begin, behind));
  back.copy_(all.narrow(0, root_begin));
  return turned;
}

}  // namespace

// The binomial tree, in relative ranks: v gets the chunks of its subtree from v without its lowest set bit.
// The subtree is v and the relative ranks after it. The value of that bit is the number of ranks in it,
// unless the ranks end before.
void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const int place = places.place_of(dist::get_rank());
  const std::int64_t k = mine.numel();
  int bit = 1;
  while (bit < places.n && (place & bit) == 0) bit *= 2;
  const int subtree = std::min(bit, places.n - place);

  Tensor shares = mine;  // a leaf has nothing to forward
  if (place == 0)
    shares = in_order_of_places(all, root * k);
  else if (subtree > 1)
    shares = dist::empty({subtree * k});
  if (place != 0) dist::recv(shares, places.rank_at(place - bit));

  for (int distance = bit / 2; distance > 0; distance /= 2) {
    if (distance >= subtree) continue;
    const int below = std::min(distance, subtree - distance);
    dist::send(shares.narrow(distance * k, below * k), places.rank_at(place + distance));
  }
  if (place == 0 || subtree > 1) mine.copy_(shares.narrow(0, k));
}

}  // namespace lab
