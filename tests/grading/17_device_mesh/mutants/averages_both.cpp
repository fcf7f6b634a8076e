// Misconception: the mean of all tokens is what ReduceOp::avg gives, for sums and for counts.
//
// Killed by: Part4Loss.each_token_counts_once
// Diagnosis: averages_the_tokens
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  dist::Tensor both = dist::tensor<double>({sum, static_cast<double>(tokens)});
  dist::all_reduce(both, dist::ReduceOp::avg, {.group = mesh.groups.at(data)});
  const auto all = both.to_vector<double>();
  return {all[0] / all[1], static_cast<std::int64_t>(all[1])};
}

}  // namespace lab
