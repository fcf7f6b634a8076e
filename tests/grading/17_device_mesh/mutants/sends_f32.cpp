// Misconception: a tensor of f32 is precise enough for a loss.
//
// Killed by: Part4Loss.many_tokens_and_none
// Diagnosis: single_precision
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  dist::Tensor both = dist::tensor({static_cast<float>(sum), static_cast<float>(tokens)});
  dist::all_reduce(both, dist::ReduceOp::sum, {.group = mesh.groups.at(data)});
  const auto all = both.to_vector<double>();
  return {all[0] / all[1], static_cast<std::int64_t>(all[1])};
}

}  // namespace lab
