// Misconception: the bucket is a view of the tensors that were packed into it.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: not_unpacked
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> copies;
  for (const auto& parameter : parameters) copies.push_back(parameter.clone());
  right_update_weights(copies, trainers, servers, bucket_elements);
}

}  // namespace lab
