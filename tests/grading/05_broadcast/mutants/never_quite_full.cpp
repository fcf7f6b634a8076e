// Misconception: a bucket is full when it holds bucket_elements elements, so a tensor that would fill it
// starts the next one.
//
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: none
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  right_update_weights(parameters, trainers, servers, bucket_elements - 1);
}

}  // namespace lab
