// Misconception: a bucket is sent when the next tensor does not fit. After the last tensor no tensor follows.
//
// Killed by: Part4Update.servers_get_the_weights
// Diagnosis: last_bucket_forgotten
#include "mutant.h"
#define update_weights right_update_weights
#include DIST_SOLUTION
#undef update_weights

namespace lab {

void update_weights(std::vector<Tensor>& parameters, const std::vector<int>& trainers,
                    const std::vector<int>& servers, std::int64_t bucket_elements) {
  std::vector<Tensor> sent;
  for (std::size_t first = 0; first < parameters.size();) {
    const auto bucket = next_bucket(parameters, first, bucket_elements);
    first = bucket.end;
    if (bucket.end == parameters.size()) break;
    for (std::size_t i = bucket.first; i < bucket.end; ++i) sent.push_back(parameters[i]);
  }
  right_update_weights(sent, trainers, servers, bucket_elements);
}

}  // namespace lab
