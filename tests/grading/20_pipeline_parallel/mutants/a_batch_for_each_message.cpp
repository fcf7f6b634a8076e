// Misconception: each message has its own call, and its own batch.
//
// Killed by: Part3Step.one_batch_between_computations
// Diagnosis: not_one_batch
#include "mutant.h"

namespace dist {

inline std::vector<Work> one_by_one(std::vector<P2P> messages) {
  std::vector<Work> works;
  for (auto& message : messages) works.push_back(batch_isend_irecv({message}).front());
  return works;
}

}  // namespace dist

#define batch_isend_irecv one_by_one
#include DIST_SOLUTION
