// Misconception: -1e9 stands for minus infinity.
//
// Killed by: Part4Vocabulary.large_logits
// Diagnosis: overflows
#include "mutant.h"
#define vocabulary_loss right_vocabulary_loss
#include DIST_SOLUTION
#undef vocabulary_loss

namespace lab {

Loss vocabulary_loss(const Tensor& logits, Range columns, const std::vector<std::int64_t>& targets,
                     const ProcessGroup& group) {
  const std::int64_t t = logits.size(0);
  Tensor largest = dist::full({t}, -1e9, dist::DType::f64);
  const auto max = largest.data<double>();
  if (columns.count > 0)
    for (std::int64_t i = 0; i < t; ++i)
      max[static_cast<std::size_t>(i)] = std::max(-1e9, dist::max(logits[i]));
  dist::all_reduce(largest, dist::ReduceOp::max, {.group = group});

  // The gradient is, for now, exp(logit - largest).
  const auto count = static_cast<std::size_t>(t), width = static_cast<std::size_t>(columns.count);
  Loss loss{0, logits.clone()};
  Tensor sums = dist::zeros({2, t}, dist::DType::f64);  // of these; the target's logit - largest
  auto gradient = loss.gradient.data<double>();
  const auto of_token = sums.data<double>();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      double& element = gradient[i * width + k];
      element -= max[i];
      if (columns.first + static_cast<std::int64_t>(k) == targets[i]) of_token[count + i] = element;
      element = std::exp(element);
      of_token[i] += element;
    }
  }
  dist::all_reduce(sums, {.group = group});

  const auto tokens = static_cast<double>(t);
  for (std::size_t i = 0; i < count; ++i) {
    loss.mean += (std::log(of_token[i]) - of_token[count + i]) / tokens;
    for (std::size_t k = 0; k < width; ++k) {
      const bool is_target = columns.first + static_cast<std::int64_t>(k) == targets[i];
      double& element = gradient[i * width + k];
      element = (element / of_token[i] - (is_target ? 1 : 0)) / tokens;
    }
  }
  return loss;
}

}  // namespace lab
