#include "dist/parallel/clip_grad_norm.h"

#include <algorithm>
#include <cmath>

#include "dist/core/fail.h"

namespace dist {

namespace {

double squares(const Tensor& t) {
  const Tensor all = t.to(DType::f64);
  return sum(all * all);
}

}  // namespace

// sums[s]: of the squares of what is still to be summed over the set s of groups. Summing over group g moves
// them to the set without g; every rank sends the sums of all sets with g, whether it has such parameters or
// not.
double clip_grad_norm(const std::vector<DividedParameter>& parameters,
                      const std::vector<ProcessGroup>& groups, double max_norm, bool error_if_nonfinite,
                      Caller at) {
  if (groups.size() > 8)
    fail(Errc::invalid_argument, "clip_grad_norm: {} groups; there can be 8", groups.size());
  std::vector<double> sums(std::size_t{1} << groups.size());
  for (const auto& [parameter, over, counts] : parameters)
    if (counts) sums.at(over) += squares(parameter->grad);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::size_t> sets;
    for (std::size_t s = 0; s < sums.size(); s += std::size_t{2} << g)
      sets.push_back(s | std::size_t{1} << g);
    std::vector<double> values;
    for (const std::size_t s : sets) values.push_back(sums[s]);
    Tensor parts = tensor(std::span<const double>(values), cpu);
    all_reduce(parts, ReduceOp::sum, {.group = groups[g]}, at);
    for (std::size_t k = 0; k < sets.size(); ++k)
      sums[sets[k] ^ std::size_t{1} << g] += parts.data<double>()[k];
  }
  const double norm = std::sqrt(sums[0]);
  if (!std::isfinite(norm) && error_if_nonfinite)
    fail(Errc::invalid_argument,
         "clip_grad_norm: the norm of the gradient is {}; lower the learning rate, or look for the layer "
         "whose output "
         "is not finite",
         norm);
  const double factor = std::min(1.0, max_norm / (norm + 1e-6));
  if (factor < 1)
    for (const auto& divided : parameters) divided.parameter->grad.mul_(factor);
  return norm;
}

}  // namespace dist
