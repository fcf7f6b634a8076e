// Misconception: the servers are always the same ranks, so their group is made once.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: none
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  static const std::vector<int> first_trainers = trainers, first_servers = servers;
  right_update_weights(parameters, first_trainers, first_servers, bucket_elements);
}

}  // namespace lab
