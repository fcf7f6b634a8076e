#include "dist/parallel/clip_grad_norm.h"

#include <algorithm>
#include <cmath>

#include "dist/core/fail.h"
#include "dist/mesh/placed.h"
#include "dist/nn/clip_grad_norm.h"

namespace dist {

double clip_grad_norm(const std::vector<DividedParameter>& parameters,
                      const std::vector<ProcessGroup>& groups, double max_norm, bool error_if_nonfinite,
                      Caller at) {
  nn::check_max_norm(max_norm);
  std::vector<std::vector<Tensor>> sets(std::size_t{1} << std::min<std::size_t>(groups.size(), 9));
  std::vector<Tensor> all;
  for (const auto& [parameter, over, counts] : parameters) {
    if (!parameter->requires_grad() || parameter->grad.numel() == 0) continue;  // a rank can have no row
    all.push_back(parameter->grad);
    if (counts) sets.at(over).push_back(parameter->grad);
  }
  std::vector<double> sums;
  for (const auto& set : sets) sums.push_back(set.empty() ? 0 : nn::squared_norm(set).item<double>());
  const double squared = sum_over_sets(std::move(sums), groups, at), norm = std::sqrt(squared);
  if (!std::isfinite(norm) && error_if_nonfinite)
    fail(Errc::invalid_argument,
         "clip_grad_norm: the norm of the gradient is {}; lower the learning rate, or look for the layer "
         "whose "
         "output is not finite",
         norm);
  if (!all.empty()) nn::clip_to_norm(all, full({}, squared, DType::f64, all[0].device()), max_norm);
  return norm;
}

}  // namespace dist
