// Misconception: a group is a set of ranks, so its first rank is the smallest. (new_group keeps the order
// that it is given.)
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
  std::vector<int> members(servers), others;
  members.push_back(trainers.at(0));
  std::ranges::sort(members);
  others.assign(members.begin() + 1, members.end());
  right_update_weights(parameters, {members.front()}, others, bucket_elements);
}

}  // namespace lab
