// Misconception: the new weights come from the trainer, so the trainer sends them to every server.
//
// Killed by: Part4Update.one_message_a_bucket
// Diagnosis: trainer_serves_everybody
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights
#include "update_with.h"

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  update_with(flat_broadcast, parameters, trainers, servers, bucket_elements);
}

}  // namespace lab
