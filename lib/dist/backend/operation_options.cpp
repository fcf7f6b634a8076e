#include "dist/backend/operation_options.h"

namespace dist {

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
