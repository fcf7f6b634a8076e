// A single message, which Endpoint::carry() takes from start to end.
#pragma once

#include "dist/transport/endpoint.h"

namespace dist {

// One message that this rank sends or receives.
struct Message {
  bool is_send = false;
  TensorView data;
  int peer = 0;  // group rank; any_rank is possible in a receive
};

// The options that a message's label gives too, for a rank that waits until the message has ended.
struct MessageTerms {
  const Members& members;
  Channel channel;
  SendMode mode = SendMode::eager;
  Timeout timeout = no_timeout;
};

Request start(Transport& transport, const Message& message);
TransportOptions options_for(const MessageTerms& terms, const CallLabel& label);  // the timeout begins now

}  // namespace dist
