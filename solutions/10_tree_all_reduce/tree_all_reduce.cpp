// Lab 10, the solution. NOTES.md explains it.
#include "tree_all_reduce.h"

#include <algorithm>

namespace lab {

using dist::Tensor, dist::Work;

// The ranks are numbered row by row, as in a heap: 0; 1 2; 3 4 5 6; ...
Place tree_place(int rank, int n) {
  Place place;
  if (rank > 0) place.parent = (rank - 1) / 2;
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < n) place.children.push_back(child);
  }
  return place;
}

namespace {

Place my_place() { return tree_place(dist::get_rank(), dist::get_world_size()); }

int depth_of(int rank, int n) {
  int depth = 0;
  while ((rank = tree_place(rank, n).parent) >= 0) ++depth;
  return depth;
}

void broadcast_from_root(Tensor& data) {
  const Place place = my_place();
  if (place.parent >= 0) dist::recv(data, place.parent);
  for (const int child : place.children) dist::send(data, child);
}

}  // namespace

void reduce_to_root(Tensor& data) {
  const Place place = my_place();
  Tensor inbox = dist::empty_like(data);
  for (const int child : place.children) {
    dist::recv(inbox, child);
    add(data, inbox);
  }
  if (place.parent >= 0) dist::send(data, place.parent);
}

void tree_all_reduce(Tensor& data) {
  reduce_to_root(data);
  broadcast_from_root(data);
}

namespace {

std::vector<Tensor> segments_of(const Tensor& data, std::int64_t segment) {
  std::vector<Tensor> parts;
  for (std::int64_t start = 0; start < data.numel(); start += segment)
    parts.push_back(data.narrow(start, std::min(segment, data.numel() - start)));
  return parts;
}

// The work of one rank in the tree, segment by segment.
struct Pipeline {
  Pipeline(const Tensor& data, std::int64_t segment) : parts(segments_of(data, segment)) {
    for (std::size_t c = 0; c < place.children.size() && !parts.empty(); ++c) {
      inboxes.push_back(dist::empty_like(parts[0]));
      arrivals.emplace_back();
      expect(c, 0);
    }
  }

  void expect(std::size_t c, std::size_t s) {
    if (s == parts.size()) return;
    Tensor arriving = inboxes[c].narrow(0, parts[s].numel());
    arrivals[c] = dist::irecv(arriving, place.children[c]);
  }

  // The receive of a child's next segment is started as soon as its inbox is free.
  void up(std::size_t s) {
    for (std::size_t c = 0; c < arrivals.size(); ++c) {
      arrivals[c].wait();
      add(parts[s], inboxes[c].narrow(0, parts[s].numel()));
      expect(c, s + 1);
    }
    if (place.parent >= 0) going_up.push_back(dist::isend(parts[s], place.parent));
  }

  void down(std::size_t s) {
    if (place.parent >= 0) {
      going_up[s].wait();  // the result is received into the same memory
      dist::recv(parts[s], place.parent);
    }
    finish();
    for (const int child : place.children) going_down.push_back(dist::isend(parts[s], child));
  }

  void finish() {
    for (Work& work : going_down) work.wait();
    going_down.clear();
  }

  const Place place = my_place();
  std::vector<Tensor> parts, inboxes;  // inboxes: one per child
  std::vector<Work> arrivals, going_up, going_down;
};

}  // namespace

// A segment that leaves a rank at depth d is back after d links up and d links down: 2d turns later. A rank
// that waited for it earlier would delay the segments behind it.
void tree_all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Pipeline tree(data, segment);
  const std::size_t m = tree.parts.size();
  const auto lag = static_cast<std::size_t>(2 * depth_of(dist::get_rank(), dist::get_world_size()));
  for (std::size_t turn = 0; turn < m + lag; ++turn) {
    if (turn < m) tree.up(turn);
    if (turn >= lag) tree.down(turn - lag);
  }
  tree.finish();
}

}  // namespace lab
