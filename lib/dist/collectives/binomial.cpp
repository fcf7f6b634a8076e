// The algorithms on the binomial tree: first the checks that scatter and gather share, then broadcast,
// reduce, scatter and gather, each of which serves or collects its children's subtrees, and the all-reduce
// made of reduce and broadcast.
#include "dist/collectives/binomial.h"

#include <string_view>
#include <vector>

#include "dist/collectives/trees.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist {

namespace {

void refuse_uneven(std::string_view what, std::span<const TensorView> list, std::int64_t count) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].count != count)
      fail(Errc::invalid_argument,
           "binomial_{} needs equal counts, but the part of member {} of the group has {} and the root's {}; "
           "use algorithm \"flat\" for uneven parts",
           what, i, counted(list[i].count, "element"), count);
}

void wait_all(std::span<Request> requests) {
  for (Request& request : requests) request.wait();
}

}  // namespace

void binomial_broadcast(Transport& net, TensorView data, int root) {
  const BinomialNode node = binomial_node(net.rank(), root, net.size());
  if (!node.is_root()) net.irecv(data, node.parent).wait();
  std::vector<Request> puts;
  for (const auto& child : node.children) puts.push_back(net.isend(data, child.rank));
  wait_all(puts);
}

void binomial_reduce(Transport& net, TensorView data, ReduceOp op, int root) {
  const BinomialNode node = binomial_node(net.rank(), root, net.size());
  Scratch inbox, partial;
  TensorView sum = data;
  if (!node.is_leaf()) {
    inbox = net.scratch(data);
    if (!node.is_root()) {
      partial = net.scratch(data);
      sum = partial.all();
      copy(sum, data);
    }
  }
  // The last child's subtree is the smallest, and its sum is ready first.
  for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
    net.irecv(inbox.all(), child->rank).wait();
    reduce(sum, inbox.all(), op);
  }
  if (!node.is_root()) net.isend(sum, node.parent).wait();
}

void binomial_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, int root) {
  const int n = net.size();
  const BinomialNode node = binomial_node(net.rank(), root, n);
  if (node.is_root()) refuse_uneven("scatter", ins, out.count);
  if (node.is_leaf() && !node.is_root()) {
    net.irecv(out, node.parent).wait();
    return;
  }
  const Scratch block = net.scratch(out, node.span * out.count);  // the subtree's parts, in the tree's order
  const auto shares = [&](int first, int ranks) {
    return block.all().slice(first * out.count, ranks * out.count);
  };
  if (node.is_root()) {
    for (int v = 0; v < n; ++v) copy(shares(v, 1), ins[mod(root + v, n)]);
  } else {
    net.irecv(block.all(), node.parent).wait();
  }
  std::vector<Request> puts;
  for (const auto& child : node.children)
    puts.push_back(net.isend(shares(child.offset, child.span), child.rank));
  copy(out, shares(0, 1));
  wait_all(puts);
}

void binomial_gather(Transport& net, TensorView in, std::span<const TensorView> outs, int root) {
  const int n = net.size();
  const BinomialNode node = binomial_node(net.rank(), root, n);
  if (node.is_root()) refuse_uneven("gather", outs, in.count);
  if (node.is_leaf() && !node.is_root()) {
    net.isend(in, node.parent).wait();
    return;
  }
  const Scratch block = net.scratch(in, node.span * in.count);
  const auto shares = [&](int first, int ranks) {
    return block.all().slice(first * in.count, ranks * in.count);
  };
  std::vector<Request> gots;
  for (const auto& child : node.children)
    gots.push_back(net.irecv(shares(child.offset, child.span), child.rank));
  copy(shares(0, 1), in);
  wait_all(gots);
  if (!node.is_root()) {
    net.isend(block.all(), node.parent).wait();
  } else {
    for (int v = 0; v < n; ++v) copy(outs[mod(root + v, n)], shares(v, 1));
  }
}

void reduce_broadcast_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  binomial_reduce(net, data, op, 0);
  binomial_broadcast(net, data, 0);
}

}  // namespace dist
