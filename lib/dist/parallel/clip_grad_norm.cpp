#include "dist/parallel/clip_grad_norm.h"

#include <cmath>

#include "dist/core/fail.h"
#include "dist/nn/clip_grad_norm.h"

namespace dist {

// sums[s]: of the squares of what is still to be summed over the set s of groups. Summing over group g moves
// them to the set without g; every rank sends the sums of all sets with g, whether it has such parameters or
// not.
double clip_grad_norm(const std::vector<DividedParameter>& parameters,
                      const std::vector<ProcessGroup>& groups, double max_norm, bool error_if_nonfinite,
                      Caller at) {
  if (groups.size() > 8)
    fail(Errc::invalid_argument, "clip_grad_norm: {} groups; there can be 8", groups.size());
  std::vector<std::vector<Tensor>> sets(std::size_t{1} << groups.size());
  std::vector<Tensor> all;
  for (const auto& [parameter, over, counts] : parameters) {
    if (parameter->grad.numel() == 0) continue;  // a rank can have no row
    all.push_back(parameter->grad);
    if (counts) sets.at(over).push_back(parameter->grad);
  }
  std::vector<double> sums;
  for (const auto& set : sets) sums.push_back(set.empty() ? 0 : nn::squared_norm(set).item<double>());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::size_t> with;
    for (std::size_t s = 0; s < sums.size(); s += std::size_t{2} << g)
      with.push_back(s | std::size_t{1} << g);
    std::vector<double> values;
    for (const std::size_t s : with) values.push_back(sums[s]);
    Tensor parts = tensor(std::span<const double>(values), cpu);
    all_reduce(parts, ReduceOp::sum, {.group = groups[g]}, at);
    for (std::size_t k = 0; k < with.size(); ++k)
      sums[with[k] ^ std::size_t{1} << g] += parts.data<double>()[k];
  }
  const double norm = std::sqrt(sums[0]);
  if (!std::isfinite(norm) && error_if_nonfinite)
    fail(Errc::invalid_argument,
         "clip_grad_norm: the norm of the gradient is {}; lower the learning rate, or look for the layer "
         "whose "
         "output is not finite",
         norm);
  if (!all.empty()) nn::clip_to_norm(all, full({}, sums[0], DType::f64, all[0].device()), max_norm);
  return norm;
}

}  // namespace dist
