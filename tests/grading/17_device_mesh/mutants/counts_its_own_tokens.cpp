// Misconception: the number of tokens that belongs to a rank's result is the number of its own tokens.
//
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: counts_its_own_tokens
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  return {right_mean_loss(mesh, data, sum, tokens).mean, tokens};
}

}  // namespace lab
