#include "dist/collectives/flat.h"

#include <vector>

#include "dist/core/kernels.h"

namespace dist {

void flat_broadcast(Transport& net, TensorView data, int root) {
  if (net.rank() != root) {
    net.irecv(data, root).wait();
    return;
  }
  std::vector<Request> puts;
  for (int k = 1; k < net.size(); ++k) puts.push_back(net.isend(data, mod(root + k, net.size())));
  for (Request& put : puts) put.wait();
}

void flat_reduce(Transport& net, TensorView data, ReduceOp op, int root) {
  const int n = net.size();
  if (net.rank() != root) {
    net.isend(data, root).wait();
    return;
  }
  if (n == 1) return;
  const Scratch inbox = net.scratch(data);
  for (int k = 1; k < n; ++k) {
    net.irecv(inbox.all(), mod(root + k, n)).wait();
    reduce(data, inbox.all(), op);
  }
}

void flat_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, int root) {
  const int n = net.size();
  if (net.rank() != root) {
    net.irecv(out, root).wait();
    return;
  }
  std::vector<Request> puts;
  for (int k = 1; k < n; ++k) puts.push_back(net.isend(ins[mod(root + k, n)], mod(root + k, n)));
  copy(out, ins[root]);
  for (Request& put : puts) put.wait();
}

void flat_gather(Transport& net, TensorView in, std::span<const TensorView> outs, int root) {
  const int n = net.size();
  if (net.rank() != root) {
    net.isend(in, root).wait();
    return;
  }
  std::vector<Request> gots;
  for (int k = 1; k < n; ++k) gots.push_back(net.irecv(outs[mod(root + k, n)], mod(root + k, n)));
  copy(outs[root], in);
  for (Request& got : gots) got.wait();
}

}  // namespace dist
