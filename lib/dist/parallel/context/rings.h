// Rings of some ranks of a group, on which blocks travel while each rank works on the one that it has.
#pragma once

#include <utility>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/core/view.h"
#include "dist/group/process_group.h"

namespace dist {

// This rank's place in a ring of the group ranks first, first + stride, ...
struct BlockRing {
  ProcessGroup group = {};
  int size = 1, place = 0, first = 0, stride = 1;

  int owner(int step) const {
    return mod(place - step, size);
  }  // the place of the block that is here in a step
  // Sends one tensor to the next rank and receives another from the one before.
  std::vector<Work> shift(const Tensor& out, const Tensor& in) const {
    return batch_isend_irecv(
        {{P2P::isend, out, global(place + 1), group}, {P2P::irecv, in, global(place - 1), group}});
  }

 private:
  int global(int at) const {
    const int rank = first + stride * mod(at, size);
    return group ? group.global_rank(rank) : rank;
  }
};

inline void wait_all(std::vector<Work>& works) {
  for (Work& work : works) work.wait();
  works.clear();
}

// Calls f(block, place of its owner) for the blocks of all ranks of the ring, this rank's own first, while
// the next one travels. make(place, dtype): room for that rank's block.
template <class Make, class F>
void for_each_block(const BlockRing& ring, Tensor block, const Make& make, const F& f) {
  for (int step = 0; step < ring.size; ++step) {
    std::vector<Work> travelling;
    Tensor next;
    if (step + 1 < ring.size) {
      next = make(ring.owner(step + 1), block.dtype());
      travelling = ring.shift(block, next);
    }
    f(block, ring.owner(step));
    wait_all(travelling);
    block = next;
  }
}

// The same where f returns this rank's part of the block's gradient, in a dtype of its own: returns the sum
// of all ranks' parts for this rank's own block. A sum begins at the rank after the owner and arrives there
// last: one step behind the blocks, and only its last hop overlaps with no computation.
template <class Make, class F>
Tensor sum_gradients(const BlockRing& ring, Tensor block, const Make& make, const F& f) {
  std::vector<Work> block_travels, sum_travels;
  Tensor own, next, sum, arriving;
  for (int step = 0; step < ring.size; ++step) {
    if (step + 1 < ring.size) {
      next = make(ring.owner(step + 1), block.dtype());
      block_travels = ring.shift(block, next);
    }
    Tensor gradient = f(block, ring.owner(step));
    wait_all(sum_travels);  // of the previous step; in parallel with the computation above
    if (step == 0) {
      own = gradient;
    } else {
      if (step > 1) gradient.add_(arriving);
      sum = gradient;
      arriving = make(ring.owner(step + 1), sum.dtype());  // after the last step: this rank's own
      sum_travels = ring.shift(sum, arriving);
    }
    wait_all(block_travels);
    block = next;
  }
  wait_all(sum_travels);
  if (ring.size > 1) own.add_(arriving);
  return own;
}

}  // namespace dist
