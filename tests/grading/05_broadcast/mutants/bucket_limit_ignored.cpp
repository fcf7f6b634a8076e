// Misconception: the fewer messages the better, so everything goes into one.
//
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: bucket_limit_ignored
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  right_update_weights(parameters, trainers, servers, 1000 * bucket_elements);
}

}  // namespace lab
