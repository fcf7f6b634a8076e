#include "dist/collectives/recursive_halving.h"

#include "dist/collectives/chunks.h"
#include "dist/collectives/halving.h"
#include "dist/collectives/trees.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

// The parts in the order of the p blocks: block i is part i and, where there is one, part i + p. Where blocks
// begin is summed up when it is asked for: n offsets on each of n ranks would fill the memory of a
// simulation.
class BlocksOfShares {
 public:
  explicit BlocksOfShares(std::span<const TensorView> shares)
      : shares_(shares), width_(floor_pow2(static_cast<int>(shares.size()))) {}

  std::int64_t count() const { return begin(width_); }
  TensorView range(const TensorView& packed, int first, int last) const {
    const std::int64_t lo = begin(first);
    return packed.slice(lo, begin(last) - lo);
  }
  void pack(const TensorView& packed) const {
    std::int64_t at = 0;
    for_each_before(width_, [&](const TensorView& share) {
      copy(packed.slice(at, share.count), share);
      at += share.count;
    });
  }

 private:
  template <class Visit>
  void for_each_before(int block, const Visit& visit) const {
    for (int i = 0; i < block; ++i)
      for (std::size_t share = static_cast<std::size_t>(i); share < shares_.size();
           share += static_cast<std::size_t>(width_))
        visit(shares_[share]);
  }
  std::int64_t begin(int block) const {
    std::int64_t sum = 0;
    for_each_before(block, [&](const TensorView& share) { sum += share.count; });
    return sum;
  }

  std::span<const TensorView> shares_;
  int width_;
};

}  // namespace

void halving_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op) {
  if (net.size() == 1) return copy(out, ins[0]);
  Halving halving(net, 0);
  const BlocksOfShares order(ins);
  const Scratch packed = net.scratch(largest(ins), order.count());
  order.pack(packed.all());
  if (halving.is_beyond()) {
    halving.fold(packed.all(), {}, op);
    net.irecv(out, halving.partner()).wait();
    return;
  }
  const Scratch inbox = net.scratch(packed.all());
  const BlockRange blocks = [&](int first, int last) { return order.range(packed.all(), first, last); };
  halving.fold(packed.all(), inbox.all(), op);
  halving.reduce_scatter(blocks, inbox.all(), op);
  const TensorView done = blocks(halving.place(), halving.place() + 1);
  if (halving.has_partner_beyond())
    net.isend(done.slice(out.count, done.count - out.count), halving.partner()).wait();
  copy(out, done.slice(0, out.count));
}

}  // namespace dist
