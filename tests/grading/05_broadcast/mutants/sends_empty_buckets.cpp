// Misconception: every bucket is sent, also one without elements.
//
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: sends_empty_buckets
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

#include "update_with.h"

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  update_with(tree_broadcast, parameters, trainers, servers, bucket_elements, true);
}

}  // namespace lab
