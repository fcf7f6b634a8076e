// Recursive halving and doubling among p ranks, p the highest power of two <= n, and what happens to the
// others: the building blocks of rabenseifner.h, recursive_halving.h and bruck.h.
//
// The data is cut into p blocks. Halving: ranks at distance p/2, p/4, ... 1 swap halves of what they are
// still responsible for and reduce the half they keep, until each has one complete block. Doubling goes the
// opposite way. With n > p, the ranks beyond p first hand their data to the rank p places before (folding).
#pragma once

#include <functional>

#include "dist/transport/transport.h"

namespace dist {

// Blocks first ... last - 1 as one contiguous view.
using BlockRange = std::function<TensorView(int first, int last)>;

// One rank's part. Ranks have places, numbered from rank `first` on; the places from p on are beyond.
class Halving {
 public:
  Halving(Transport& net, int first);

  int place() const { return place_; }
  bool is_beyond() const { return place_ >= width_; }
  bool has_partner_beyond() const { return !is_beyond() && place_ + width_ < size_; }
  int partner() const { return rank_at(is_beyond() ? place_ - width_ : place_ + width_); }

  // The partner beyond sends its `mine`; the other one reduces it into its own `mine`, with `inbox` of the
  // same size. Ranks without a partner send nothing.
  void fold(TensorView mine, TensorView inbox, ReduceOp op);

  // The following are for ranks that are not beyond, log2 p rounds each.
  // Afterwards block `place` is complete. inbox: room for half of the blocks, on any rank the larger half.
  void reduce_scatter(const BlockRange& blocks, TensorView inbox, ReduceOp op);
  // Before, block `place` is complete; afterwards, all blocks are.
  void all_gather(const BlockRange& blocks);
  // Before, block `place` is complete; afterwards, all blocks are at place 0.
  void gather(const BlockRange& blocks);

 private:
  int rank_at(int place) const { return mod(place + first_, size_); }

  Transport& net_;
  int size_, width_, first_, place_;
};

}  // namespace dist
