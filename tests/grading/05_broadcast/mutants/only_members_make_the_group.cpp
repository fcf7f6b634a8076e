// Misconception: only the ranks of a group call new_group.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: only_members_make_the_group
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  const int rank = dist::get_rank();
  if (rank != trainers[0] && std::ranges::find(servers, rank) == servers.end()) return;
  right_update_weights(parameters, trainers, servers, bucket_elements);
}

}  // namespace lab
