// Misconception: with .group, dst is a rank of that group.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: group_rank_as_global_rank
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights
#include "update_with.h"

namespace lab {

namespace {

void broadcast_by_group_ranks(Tensor& data, int root, const ProcessGroup& group) {
  if (group.rank() != root) {
    dist::recv(data, root, {.group = group});
    return;
  }
  for (int peer = 0; peer < group.size(); ++peer) {
    if (peer != root) dist::send(data, peer, {.group = group});
  }
}

}  // namespace

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  update_with(broadcast_by_group_ranks, parameters, trainers, servers, bucket_elements);
}

}  // namespace lab
