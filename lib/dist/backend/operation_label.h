// The label of an operation that opens no transport, or not at its start.
#pragma once

#include <optional>

#include "dist/transport/endpoint.h"

namespace dist {

// What the rounds of one operation call it in messages, made when it is first asked for. The timeout runs
// from then on: all waits of the operation have one deadline.
template <class Make>
class OperationLabel final : public CallLabel {
 public:
  explicit OperationLabel(const Make& make) : make_(make) {}
  TransportOptions options() const override {
    TransportOptions options = make_();
    if (!deadline_) deadline_ = options.deadline;
    options.deadline = *deadline_;
    return options;
  }

 private:
  const Make& make_;
  mutable std::optional<Deadline> deadline_;
};

}  // namespace dist
