#include "dist/collectives/halving.h"

#include "dist/collectives/trees.h"
#include "dist/core/kernels.h"

namespace dist {

Halving::Halving(Transport& net, int first)
    : net_(net),
      size_(net.size()),
      width_(floor_pow2(size_)),
      first_(first),
      place_(mod(net.rank() - first, size_)) {}

void Halving::fold(TensorView mine, TensorView inbox, ReduceOp op) {
  if (is_beyond()) {
    net_.isend(mine, partner()).wait();
  } else if (has_partner_beyond()) {
    net_.irecv(inbox.slice(0, mine.count), partner()).wait();
    reduce(mine, inbox.slice(0, mine.count), op);
  }
}

void Halving::reduce_scatter(const BlockRange& blocks, TensorView inbox, ReduceOp op) {
  int first = 0;  // first of the 2 * distance blocks that this rank is still responsible for
  for (int distance = width_ / 2; distance > 0; distance /= 2) {
    const TensorView low = blocks(first, first + distance);
    const TensorView high = blocks(first + distance, first + 2 * distance);
    const bool keeps_high = (place_ & distance) != 0;
    const TensorView kept = keeps_high ? high : low, given = keeps_high ? low : high;
    const TensorView arriving = inbox.slice(0, kept.count);
    const int peer = rank_at(place_ ^ distance);
    send_recv(net_, given, peer, arriving, peer);
    reduce(kept, arriving, op);
    if (keeps_high) first += distance;
  }
}

void Halving::all_gather(const BlockRange& blocks) {
  for (int distance = 1; distance < width_; distance *= 2) {
    const int mine = place_ & -distance, theirs = mine ^ distance;
    const int peer = rank_at(place_ ^ distance);
    send_recv(net_, blocks(mine, mine + distance), peer, blocks(theirs, theirs + distance), peer);
  }
}

void Halving::gather(const BlockRange& blocks) {
  for (int distance = 1; distance < width_; distance *= 2) {
    if (place_ & distance) {
      net_.isend(blocks(place_, place_ + distance), rank_at(place_ - distance)).wait();
      return;
    }
    net_.irecv(blocks(place_ + distance, place_ + 2 * distance), rank_at(place_ + distance)).wait();
  }
}

}  // namespace dist
