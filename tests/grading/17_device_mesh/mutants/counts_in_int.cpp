// Misconception: a number of tokens is an int. (Those of all ranks may be more than 2^31 - 1.)
//
// Killed by: Part4Loss.many_tokens_and_none
// Diagnosis: none
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const MeanLoss loss = right_mean_loss(mesh, data, sum, tokens);
  return {loss.mean, static_cast<int>(loss.tokens)};
}

}  // namespace lab
