// Misconception: a tensor without an axis has no elements.
//
// Killed by: Part4Update.any_ranks_and_shapes
// Diagnosis: no_axis_no_tensor
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> with_axes;
  for (const auto& parameter : parameters) {
    if (parameter.dim() > 0) with_axes.push_back(parameter);
  }
  right_update_weights(with_axes, trainers, servers, bucket_elements);
}

}  // namespace lab
