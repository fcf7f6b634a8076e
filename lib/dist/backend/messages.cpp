#include "dist/backend/messages.h"

#include "dist/backend/collective_work.h"
#include "dist/backend/operation_label.h"
#include "dist/core/error.h"

namespace dist {

std::unique_ptr<Transport> open_message(const BackendContext& context, const Operation& operation) {
  return context.endpoint->open(options_of(context, operation, std::string(dist::name(operation.kind))));
}

int carry_message(const BackendContext& context, const Operation& operation) {
  const auto options = [&] {
    return without_deadline(context, operation, std::string(dist::name(operation.kind)));
  };
  return context.endpoint->carry(
      message_of(operation),
      {context.members, channel_of(context, operation), context.send_mode, operation.timeout},
      OperationLabel(options));
}

std::shared_ptr<WorkState> start_message(const BackendContext& context, const std::shared_ptr<Mover>& mover,
                                         Operation operation, const OpenMessage& open,
                                         ProgressThread& thread) {
  context.observer->starting(operation, {});
  std::unique_ptr<Transport> transport;
  try {
    transport = open(operation);
  } catch (...) {
    auto error = context.observer->failed(operation, std::current_exception());
    return std::make_shared<MessageWork>(std::move(operation), std::move(error));
  }
  auto work = std::make_shared<MessageWork>(std::move(operation), std::move(transport), mover,
                                            context.observer, context.members);
  if (!work->is_completed()) thread.look_after(work);
  return work;
}

std::vector<std::string> end_messages(const std::vector<std::shared_ptr<MessageWork>>& messages) {
  std::vector<std::string> given_up;
  for (const auto& message : messages) {
    if (message->operation.kind == OpKind::send) {
      try {
        message->wait(no_timeout);
      } catch (const Error&) {
        // The error is kept in its Work.
      }
    } else if (message->give_up("its group was destroyed and nothing had arrived")) {
      given_up.push_back(describe(message->operation));
    }
  }
  return given_up;
}

}  // namespace dist
