#include "dist/collectives/baselines.h"

#include <vector>

#include "dist/collectives/flat.h"
#include "dist/collectives/pairwise.h"
#include "dist/core/kernels.h"

namespace dist {

void parameter_server_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  flat_reduce(net, data, op, 0);
  flat_broadcast(net, data, 0);
}

void naive_exchange_all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const int n = net.size();
  if (n == 1) return;
  const Scratch all = net.scratch(data, data.count * n);
  std::vector<TensorView> contributions;
  for (int rank = 0; rank < n; ++rank)
    contributions.push_back(all.all().slice(rank * data.count, data.count));
  pairwise_all_gather(net, data, contributions);
  copy(data, contributions[0]);
  for (std::size_t rank = 1; rank < contributions.size(); ++rank) reduce(data, contributions[rank], op);
}

}  // namespace dist
