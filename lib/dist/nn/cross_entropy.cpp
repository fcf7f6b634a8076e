#include "dist/nn/cross_entropy.h"

#include "dist/core/shape.h"
#include "dist/nn/ops.h"

namespace dist::nn {

namespace {

constexpr const char* loss_name = "CrossEntropyLoss";

void check(const Tensor& logits, const Tensor& targets) {
  check_input(loss_name, logits);
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

Loss CrossEntropyLoss::forward(const Tensor& logits, const Tensor& targets) {
  check(logits, targets);
  const std::int64_t count =
      count_targets(loss_name, targets.to(cpu), logits.size(-1), options_.ignore_index);
  const Tensor grad = options_.in_place ? logits : logits.clone();
  const Tensor losses = empty({targets.numel()}, DType::f64, logits.device());
  ops_for(logits.device())
      .cross_entropy(grad, losses, targets.to(logits.device()), options_.ignore_index,
                     count == 0 ? 0 : 1 / static_cast<double>(count));
  grad_.keep(grad);
  return {losses, static_cast<double>(count)};
}

Tensor CrossEntropyLoss::backward() { return grad_.take(); }

}  // namespace dist::nn
