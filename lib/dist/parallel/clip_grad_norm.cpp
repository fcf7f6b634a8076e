#include "dist/parallel/clip_grad_norm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dist/core/fail.h"

namespace dist {

namespace {

// By the groups that are still to be summed over, as numbers in the order in which they occur.
using Sums = std::map<std::set<std::size_t>, double>;

double squares(const Tensor& t) {
  const Tensor all = t.to(DType::f64);
  return sum(all * all);
}

}  // namespace

double clip_grad_norm(const std::vector<DividedParameter>& parameters, double max_norm,
                      bool error_if_nonfinite, Caller at) {
  std::vector<ProcessGroup> groups;
  Sums sums;
  for (const auto& [parameter, sharded_over] : parameters) {
    std::set<std::size_t> over;
    for (const ProcessGroup& group : sharded_over) {
      const auto same = std::ranges::find(groups, group.state(), &ProcessGroup::state);
      over.insert(static_cast<std::size_t>(same - groups.begin()));
      if (same == groups.end()) groups.push_back(group);
    }
    sums[over] += squares(parameter->grad);
  }
  // What is sharded over a group is summed over it and then counts as one with what is not. Where several
  // kinds of parameters are sharded over it, they travel together.
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::set<std::size_t>> kinds;
    for (const auto& [over, value] : sums)
      if (over.contains(g)) kinds.push_back(over);
    Tensor parts = empty({static_cast<std::int64_t>(kinds.size())}, DType::f64, cpu);
    for (std::size_t k = 0; k < kinds.size(); ++k) parts.data<double>()[k] = sums.extract(kinds[k]).mapped();
    all_reduce(parts, ReduceOp::sum, {.group = groups[g]}, at);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      kinds[k].erase(g);
      sums[kinds[k]] += parts.data<double>()[k];
    }
  }
  const double norm = std::sqrt(sums[{}]);
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
