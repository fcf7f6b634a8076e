// The options with which an operation's transports are opened.
#pragma once

#include <optional>
#include <string>

#include "dist/backend/backend.h"

namespace dist {

// `label`: what runs, for errors ("ring_all_reduce").
TransportOptions options_of(const BackendContext& context, const Operation& operation, std::string label);
Channel channel_of(const BackendContext& context, const Operation& operation);
TransportOptions without_deadline(const BackendContext& context, const Operation& operation,
                                  std::string label);

// Channels of a group that belong to no operation: no collective has a number this high.
inline constexpr std::uint64_t connect_direct_tag = std::uint64_t{1} << 61;
inline constexpr std::uint64_t device_peers_tag = connect_direct_tag + 1;
inline constexpr std::uint64_t liveness_tag = connect_direct_tag + 2;
inline constexpr std::uint64_t goodbye_tag = connect_direct_tag + 3;
inline constexpr std::uint64_t lanes_tag = connect_direct_tag + 4;
// This tag plus the collective's number: the channel on which DeviceTransport sends its receipts.
inline constexpr std::uint64_t receipts_tag = std::uint64_t{1} << 60;
// The options of an operation on one of these channels.
TransportOptions options_of(const BackendContext& context, const Operation& operation, std::string label,
                            std::uint64_t tag);

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
