// Misconception: every tensor is a message of its own.
//
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: one_message_a_tensor
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  right_update_weights(parameters, trainers, servers, std::min<std::int64_t>(bucket_elements, 1));
}

}  // namespace lab
