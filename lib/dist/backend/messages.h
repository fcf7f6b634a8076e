// The messages of a backend whose ranks reach each other through an Endpoint: carried from start to end in
// one call, or started and completed later.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/backend/backend.h"
#include "dist/backend/message_work.h"
#include "dist/backend/progress_thread.h"
#include "dist/transport/transport.h"

namespace dist {

// A transport for this message alone, on the endpoint.
std::unique_ptr<Transport> open_message(const BackendContext& context, const Operation& operation);
// Carries a whole message on the endpoint, for a rank that waits; returns the other rank.
int carry_message(const BackendContext& context, const Operation& operation);

using OpenMessage = std::function<std::unique_ptr<Transport>(const Operation&)>;
// Starts a message that the caller does not wait for, on what `open` returns; `thread` looks after it.
std::shared_ptr<WorkState> start_message(const BackendContext& context, const std::shared_ptr<Mover>& mover,
                                         Operation operation, const OpenMessage& open,
                                         ProgressThread& thread);
// Waits for the sends, and gives up the receives that no thread waits for: one line about each of those.
std::vector<std::string> end_messages(const std::vector<std::shared_ptr<MessageWork>>& messages);

}  // namespace dist
