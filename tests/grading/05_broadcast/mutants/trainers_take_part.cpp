// Misconception: it is harmless if the trainers receive their weights once more.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: trainers_take_part
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  auto all = servers;
  all.insert(all.begin(), trainers.begin() + 1, trainers.end());
  right_update_weights(parameters, {trainers[0]}, all, bucket_elements);
}

}  // namespace lab
