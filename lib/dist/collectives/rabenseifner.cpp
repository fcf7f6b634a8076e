#include "dist/collectives/rabenseifner.h"

#include "dist/collectives/chunks.h"
#include "dist/collectives/halving.h"
#include "dist/collectives/trees.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

// Afterwards each of the p ranks has block `place` of the sum of `data`; data is overwritten.
void fold_and_scatter(Transport& net, Halving& halving, TensorView data, const BlockRange& blocks,
                      ReduceOp op) {
  const std::int64_t longest_half = data.count - data.count / 2;
  const Scratch inbox = net.scratch(data, halving.has_partner_beyond() ? data.count : longest_half);
  halving.fold(data, inbox.all(), op);
  halving.reduce_scatter(blocks, inbox.all(), op);
}

}  // namespace

void rabenseifner_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  if (net.size() == 1) return;
  Halving halving(net, 0);
  if (halving.is_beyond()) {
    halving.fold(data, {}, op);
    net.irecv(data, halving.partner()).wait();
    return;
  }
  const Chunks chunks{data, floor_pow2(net.size())};
  const BlockRange blocks = [&](int first, int last) { return chunks.range(first, last); };
  fold_and_scatter(net, halving, data, blocks, op);
  halving.all_gather(blocks);
  if (halving.has_partner_beyond()) net.isend(data, halving.partner()).wait();
}

void rabenseifner_reduce(Transport& net, TensorView data, ReduceOp op, int root) {
  if (net.size() == 1) return;
  Halving halving(net, root);
  if (halving.is_beyond()) return halving.fold(data, {}, op);
  Scratch partial;
  TensorView sum = data;
  if (net.rank() != root) {
    partial = net.scratch(data);
    sum = partial.all();
    copy(sum, data);
  }
  const Chunks chunks{sum, floor_pow2(net.size())};
  const BlockRange blocks = [&](int first, int last) { return chunks.range(first, last); };
  fold_and_scatter(net, halving, sum, blocks, op);
  halving.gather(blocks);
}

}  // namespace dist
