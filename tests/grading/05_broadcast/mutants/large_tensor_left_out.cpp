// Misconception: no tensor is larger than a bucket.
//
// Killed by: Part4Update.any_ranks_and_shapes
// Diagnosis: large_tensor_left_out
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> small;
  for (const auto& parameter : parameters) {
    if (parameter.numel() <= bucket_elements) small.push_back(parameter);
  }
  right_update_weights(small, trainers, servers, bucket_elements);
}

}  // namespace lab
