#include "dist/backend/operation.h"

#include <fmt/format.h>

namespace dist {
namespace {

std::int64_t total(const TensorList& tensors) {
  std::int64_t sum = 0;
  for (const auto& tensor : tensors) sum += tensor.numel();
  return sum;
}

}  // namespace

std::int64_t Operation::count() const {
  switch (kind) {
    case OpKind::send:
    case OpKind::gather:
    case OpKind::all_gather: return inputs[0].numel();
    case OpKind::recv:
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::all_reduce:
    case OpKind::scatter: return outputs[0].numel();
    case OpKind::reduce_scatter:
    case OpKind::all_to_all: return total(inputs);
    case OpKind::barrier: return 0;
  }
  __builtin_unreachable();
}

DType Operation::dtype() const {
  if (!outputs.empty()) return outputs[0].dtype();
  return inputs.empty() ? DType::u8 : inputs[0].dtype();
}

std::string Operation::what() const {
  if (kind == OpKind::barrier) return {};
  return fmt::format("{} {}", count(), name(dtype()));
}

std::string Operation::doing() const { return describe_call(name(kind), sequence, what()); }

}  // namespace dist
