#include "dist/transport/endpoint.h"

#include "dist/transport/message.h"

namespace dist {

Endpoint::~Endpoint() = default;

TransportOptions options_for(const MessageTerms& terms, const CallLabel& label) {
  TransportOptions options = label.options();
  options.deadline = Deadline::after(terms.timeout);
  return options;
}

int Endpoint::carry(const Message& message, const MessageTerms& terms, const CallLabel& label) {
  const auto transport = open(options_for(terms, label));
  return start(*transport, message).wait();
}

Request start(Transport& transport, const Message& message) {
  return message.is_send ? transport.isend(message.data, message.peer)
                         : transport.irecv(message.data, message.peer);
}

std::string str(const OpLabel& label) { return describe_call(label.name, label.sequence, label.what.str()); }

}  // namespace dist
