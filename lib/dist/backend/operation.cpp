// What an operation amounts to, and the options with which its transports are opened (backend.h).
#include "dist/backend/operation.h"

#include <fmt/format.h>

#include "dist/backend/backend.h"

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

TransportOptions options_of(const BackendContext& context, const Operation& operation, std::string label) {
  TransportOptions options = without_deadline(context, operation, std::move(label));
  options.deadline = Deadline::after(operation.timeout);
  return options;
}

Channel channel_of(const BackendContext& context, const Operation& operation) {
  const bool message = !is_collective(operation.kind);
  return {context.context, message ? operation.tag : operation.sequence, operation.opcode(), message,
          message ? 0 : operation.elements()};
}

TransportOptions without_deadline(const BackendContext& context, const Operation& operation,
                                  std::string label) {
  const bool message = !is_collective(operation.kind);
  TransportOptions options;
  options.members = context.members;
  options.channel = channel_of(context, operation);
  options.label = {std::move(label), operation.sequence, operation.amount(), operation.where};
  options.mode = message ? context.send_mode : SendMode::eager;
  options.bytes = static_cast<std::uint64_t>(operation.count()) * size_of(operation.dtype());
  return options;
}

// Its ranks may be in different operations, and learn so from each other's messages.
TransportOptions options_of(const BackendContext& context, const Operation& operation, std::string label,
                            std::uint64_t tag) {
  TransportOptions options = options_of(context, operation, std::move(label));
  options.channel = {context.context, tag, 0, false};
  return options;
}

}  // namespace dist
