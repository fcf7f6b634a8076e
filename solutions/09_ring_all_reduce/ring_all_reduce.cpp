// Lab 09, the solution. NOTES.md explains it.
#include "ring_all_reduce.h"

#include <algorithm>
#include <array>
#include <vector>

namespace lab {

using dist::Tensor, dist::Work;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// This rank's neighbours, and the chunks of its data. Chunk numbers wrap around.
struct Ring {
  explicit Ring(const Tensor& data) : chunks(data.chunk(n)) {}
  int rank = dist::get_rank(), n = dist::get_world_size();
  int next = (rank + 1) % n, before = (rank + n - 1) % n;
  std::vector<Tensor> chunks;
  Tensor& chunk(int i) { return chunks[at((i % n + n) % n)]; }
};

// The lengths differ by at most one; the last chunk is one of the longest.
std::int64_t longest(const Ring& ring) { return ring.chunks.back().numel(); }

}  // namespace

// A chunk starts at the rank after its owner and is complete when it reaches the owner, n - 1 steps later.
void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 2);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

// In each step a rank sends the chunk that it received in the step before, beginning with its own chunk.
void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 1), ring.before);
    dist::send(ring.chunk(ring.rank - step), ring.next);
    arrival.wait();
  }
}

void ring_all_reduce(Tensor& data) {
  reduce_scatter(data);
  all_gather(data);
}

// Turn t carries segment t % m of step t / m. The steps of both halves are numbered in one list: in step s
// chunk rank - s - 1 leaves and chunk rank - s - 2 arrives. What arrived in turn t - 1 is added while the
// messages of turn t are under way, and leaves in turn t - 1 + m. If m = 1, this is turn t, so nothing could
// be under way meanwhile.
void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m, lag = std::min(m - 1, 1);
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const std::int64_t most = (longest(ring) + m - 1) / m;
  const std::array inboxes{dist::empty({most}, data.dtype()), dist::empty({most}, data.dtype())};
  std::array<Tensor, 2> arriving;
  std::array<Work, 2> arrivals, leaving;

  for (int turn = 0; turn < turns + lag; ++turn) {
    if (turn < turns) {
      Tensor& place = arriving[at(turn % 2)] = part(turn / m + 2, turn);
      if (turn < turns / 2) place = inboxes[at(turn % 2)].narrow(0, place.numel());
      arrivals[at(turn % 2)] = dist::irecv(place, ring.before);
      leaving[at(turn % 2)] = dist::isend(part(turn / m + 1, turn), ring.next);
    }
    const int come = turn - lag;
    if (come < 0) continue;
    arrivals[at(come % 2)].wait();
    Tensor mine = part(come / m + 2, come);
    if (come < turns / 2) add(mine, arriving[at(come % 2)]);
    leaving[at(come % 2)].wait();
  }
}

}  // namespace lab
