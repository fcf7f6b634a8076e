#include "dist/nn/cross_entropy.h"

#include <cmath>

#include "dist/core/shape.h"
#include "dist/nn/ops.h"

namespace dist::nn {

namespace {

constexpr const char* loss_name = "CrossEntropyLoss";

void check(const Tensor& logits, const Tensor& targets) {
  check_input(loss_name, logits);
  if (const char* const why = logits.caution()) fail(Errc::invalid_argument, "{}: {}", loss_name, why);
  if (logits.dim() < 2 || logits.numel() == 0)
    fail_shape(loss_name, logits, "[batch, ..., classes], none of them 0,");
  const Shape rows(logits.shape().begin(), logits.shape().end() - 1);
  if (!targets.is_defined() || targets.dtype() != DType::i64 || targets.shape() != rows)
    fail(Errc::invalid_argument, "{}: the targets are {}, {} i64 is expected, a class for each row of logits",
         loss_name,
         targets.is_defined() ? fmt::format("{} {}", to_string(targets.shape()), name(targets.dtype()))
                              : "undefined",
         to_string(rows));
}

}  // namespace

std::int64_t count_targets(std::string_view who, const Tensor& targets, std::int64_t classes,
                           std::int64_t ignore_index) {
  std::int64_t row = 0, count = 0;
  for (const std::int64_t target : targets.data<std::int64_t>()) {
    if (target != ignore_index) {
      if (target < 0 || target >= classes)
        fail(Errc::invalid_argument, "{}: target {} of row {} is not a class; there are {}, counted from 0",
             who, target, row, classes);
      ++count;
    }
    ++row;
  }
  return count;
}

// A target that is not a class makes the loss NaN, so other losses need no look at the targets.
double Loss::total() const {
  const double total = sum(losses_);
  if (unchecked_.targets.is_defined() && std::isnan(total))
    count_targets(loss_name, unchecked_.targets.to(cpu), unchecked_.classes, unchecked_.ignored);
  return total;
}

double Loss::count() const {
  return unchecked_.count.is_defined() ? unchecked_.count.item<double>() : count_;
}

Loss Loss::clone() const {
  Loss copy = *this;
  copy.losses_ = losses_.clone();
  if (unchecked_.count.is_defined()) {
    copy.unchecked_.count = unchecked_.count.clone();
    copy.unchecked_.targets = unchecked_.targets.clone();
  }
  return copy;
}

Loss CrossEntropyLoss::forward(const Tensor& logits, const Tensor& targets, std::optional<double> divisor) {
  check(logits, targets);
  if (divisor && !(*divisor > 0))
    fail(Errc::invalid_argument, "{}: divisor = {} is out of range; it must be above 0", loss_name, *divisor);
  const Device device = logits.device();
  const std::int64_t classes = logits.size(-1), ignored = options_.ignore_index;
  const Ops& ops = ops_for(device);
  double counted = 0;
  Tensor count;
  if (targets.device() == cpu) {
    counted = static_cast<double>(count_targets(loss_name, targets, classes, ignored));
    counted = divisor.value_or(counted);
    count = full({}, counted, DType::f64, device);
  } else if (divisor) {
    count = full({}, *divisor, DType::f64, device);
  } else {
    count = empty({}, DType::f64, device);
    ops.count_targets(count, targets, ignored);
  }
  const Tensor grad = options_.in_place ? logits : logits.clone();
  const Tensor losses = empty({targets.numel()}, DType::f64, device);
  ops.cross_entropy(grad, losses, targets.to(device), ignored, count);
  grad_.keep(grad);
  if (targets.device() == cpu) return {losses, counted};
  return {losses, {count, targets, classes, ignored}};
}

Tensor CrossEntropyLoss::backward() { return grad_.take(); }

}  // namespace dist::nn
