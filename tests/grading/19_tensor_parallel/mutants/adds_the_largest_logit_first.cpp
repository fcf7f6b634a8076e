// Misconception: the logarithm of the sum is the largest logit and a bit more. (Where it is large, the bit is
// lost.)
//
// Killed by: Part4Vocabulary.large_logits
// Diagnosis: loses_digits
#include "mutant.h"
#define vocabulary_loss right_vocabulary_loss
#include DIST_SOLUTION
#undef vocabulary_loss

namespace lab {

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -std::numeric_limits<double>::infinity(), dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i) max[static_cast<std::size_t>(i)] = dist::max(logits[i]);
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});
  Tensor target = dist::zeros({t}, dist::DType::f64), sums = dist::zeros({t}, dist::DType::f64);
  for (std::int64_t i = 0; i < t; ++i) {
    const std::int64_t column = targets[static_cast<std::size_t>(i)] - columns.first;
    const auto at = static_cast<std::size_t>(i);
    for (std::int64_t k = 0; k < columns.count; ++k)
      sums.data<double>()[at] += std::exp(logits[i].data<double>()[static_cast<std::size_t>(k)] - max[at]);
    if (column >= 0 && column < columns.count)
      target.data<double>()[at] = logits[i].data<double>()[static_cast<std::size_t>(column)];
  }
  dist::all_reduce(sums, {.group = group});
  dist::all_reduce(target, {.group = group});
  Loss loss = right_vocabulary_loss(logits, columns, targets, group);
  loss.mean = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t); ++i)
    loss.mean +=
        (max[i] + std::log(sums.data<double>()[i]) - target.data<double>()[i]) / static_cast<double>(t);
  return loss;
}

}  // namespace lab
