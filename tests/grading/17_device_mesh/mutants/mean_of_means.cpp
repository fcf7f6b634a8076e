// Misconception: every rank has a mean, and the mean of all tokens is the mean of these.
//
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: mean_of_means
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const auto& group = mesh.groups.at(data);
  const auto count = static_cast<double>(tokens);
  const auto all = summed({sum / count, count}, group);
  return {all[0] / group.size(), static_cast<std::int64_t>(all[1])};
}

}  // namespace lab
