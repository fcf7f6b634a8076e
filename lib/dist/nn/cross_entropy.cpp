#include "dist/nn/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "dist/core/shape.h"

namespace dist::nn {

namespace {

constexpr const char* who = "CrossEntropyLoss";

void check(const Tensor& logits, const Tensor& targets) {
  check_input(who, logits);
  if (logits.dim() != 2 || logits.numel() == 0)
    fail_shape(who, logits, "[batch, classes], neither of them 0,");
  if (!targets.is_defined() || targets.dtype() != DType::i64 || targets.shape() != Shape{logits.size(0)})
    fail(Errc::invalid_argument,
         "{}: the targets are {}, [{}] i64 is expected, a class for each row of logits", who,
         targets.is_defined() ? fmt::format("{} {}", to_string(targets.shape()), name(targets.dtype()))
                              : "undefined",
         logits.size(0));
}

// The loss of one sample; its logits become their gradient, except for the factor 1 / batch. The largest
// logit is subtracted from all, which changes nothing and keeps exp() from overflowing.
template <class T>
double of_row(std::span<T> logits, std::size_t target) {
  const double largest = *std::ranges::max_element(logits);
  const double chosen = logits[target] - largest;
  double total = 0;
  for (const T logit : logits) total += std::exp(logit - largest);
  for (T& logit : logits) logit = static_cast<T>(std::exp(logit - largest) / total);
  logits[target] -= 1;
  return std::log(total) - chosen;
}

}  // namespace

// There are few numbers per sample, and the host needs their sum: so this is computed on the host, wherever
// the logits are.
double CrossEntropyLoss::forward(const Tensor& logits, const Tensor& targets) {
  check(logits, targets);
  const std::int64_t batch = logits.size(0), classes = logits.size(1);
  Tensor grad = logits.device() == cpu ? logits.clone() : logits.to(cpu);
  const Tensor here = targets.to(cpu);
  double total = 0;
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int64_t target = here.data<std::int64_t>()[static_cast<std::size_t>(row)];
    if (target < 0 || target >= classes)
      fail(Errc::invalid_argument, "{}: target {} of row {} is not a class; there are {}, counted from 0",
           who, target, row, classes);
    visit_dtype(grad.dtype(), [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>)
        total += of_row(grad[row].template data<T>(), static_cast<std::size_t>(target));
    });
  }
  grad.mul_(1 / static_cast<double>(batch));
  grad_.keep(grad.to(logits.device()));
  return total / static_cast<double>(batch);
}

Tensor CrossEntropyLoss::backward() { return grad_.take(); }

}  // namespace dist::nn
