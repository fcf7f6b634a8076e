// Misconception: parameters are a list, and a new tensor in the list is a new parameter.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: not_in_place
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  for (auto& parameter : parameters) parameter = parameter.clone();
  right_update_weights(parameters, trainers, servers, bucket_elements);
}

}  // namespace lab
