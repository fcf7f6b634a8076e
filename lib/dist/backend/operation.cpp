#include "dist/backend/operation.h"

#include <fmt/format.h>

namespace dist {
namespace {

std::int64_t total(const TensorList& tensors) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) sum += tensors[i].count;
  return sum;
}

}  // namespace

std::int64_t Operation::count() const {
  switch (kind) {
    case OpKind::send:
    case OpKind::gather:
    case OpKind::all_gather: return inputs[0].count;
    case OpKind::recv:
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::all_reduce:
    case OpKind::scatter: return outputs[0].count;
    case OpKind::reduce_scatter:
    case OpKind::all_to_all: return total(inputs);
    case OpKind::barrier: return 0;
  }
  __builtin_unreachable();
}

std::uint64_t Operation::elements() const {
  switch (kind) {
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::all_reduce: return static_cast<std::uint64_t>(outputs[0].count) + 1;
    case OpKind::all_gather: return static_cast<std::uint64_t>(total(outputs)) + 1;
    case OpKind::reduce_scatter: return static_cast<std::uint64_t>(total(inputs)) + 1;
    case OpKind::send:
    case OpKind::recv:
    case OpKind::scatter:
    case OpKind::gather:
    case OpKind::all_to_all:
    case OpKind::barrier: return 0;
  }
  __builtin_unreachable();
}

Amount Operation::amount() const { return kind == OpKind::barrier ? Amount{} : Amount{count(), dtype()}; }

std::string Operation::doing() const { return describe_call(name(kind), sequence, amount().str()); }

}  // namespace dist
