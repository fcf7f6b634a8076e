// Recursive halving and doubling among p ranks, p the highest power of two <= n, and what is done about the
// others: the parts of rabenseifner.h, recursive_halving.h, scatter_gather.h and bruck.h.
//
// The data is cut into p blocks. Halving: ranks at distance p/2, p/4, ... 1 swap halves of what they are
// still responsible for and reduce the half they keep, until each has one block, complete. Doubling is the
// way back. With n > p the ranks beyond p first hand their data to the rank p places before (folding).
#pragma once

#include <functional>

#include "dist/transport/transport.h"

namespace dist {

// Blocks first ... last - 1, which lie one behind the other.
using BlockRange = std::function<TensorView(int first, int last)>;

// One rank's part. Ranks have places, numbered from rank `first` on; those from p on are beyond.
class Halving {
 public:
  Halving(Transport& net, int first);

  int place() const { return place_; }
  bool is_beyond() const { return place_ >= width_; }
  bool has_partner_beyond() const { return !is_beyond() && place_ + width_ < size_; }
  int partner() const { return rank_at(is_beyond() ? place_ - width_ : place_ + width_); }

  // The partner beyond gives its `mine`, the other one reduces it into `mine`, with `inbox` as long as that.
  // No message of ranks without a partner.
  void fold(TensorView mine, TensorView inbox, ReduceOp op);

  // The following are for ranks that are not beyond, log2 p rounds each.
  // Afterwards block `place` is complete. inbox: room for half of the blocks, on any rank the largest half.
  void reduce_scatter(const BlockRange& blocks, TensorView inbox, ReduceOp op);
  // Block `place` is there before, all blocks are afterwards.
  void all_gather(const BlockRange& blocks);
  // Block `place` is there before, all blocks are at place 0 afterwards.
  void gather(const BlockRange& blocks);

 private:
  int rank_at(int place) const { return mod(place + first_, size_); }

  Transport& net_;
  int size_, width_, first_, place_;
};

}  // namespace dist
