// Control calls: what the ranks of a group exchange besides their collectives (new_group, split_group, the
// mismatch check). It is a plain exchange of short texts between all pairs, so that a rank that is missing or
// different can be named.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/deadline.h"
#include "dist/group/group_state.h"

namespace dist {

struct ControlCall {
  std::string_view name;  // "new_group"; static storage
  CallSite where;
  Timeout timeout = default_timeout;
};

// What one rank says in a control call.
struct ControlMessage {
  std::string call;     // must be equal on all ranks: "new_group({0, 2})"
  std::string where;    // "train.cpp:41"
  std::string data;     // what else the call needs
  CallSite place = {};  // the same as `where`, for ranks of this process
};

// What all members said, by group rank. Virtual ranks share one object, so that thousands of them need not
// read thousands of messages each: what follows from the messages is computed once.
class Exchanged {
 public:
  std::vector<ControlMessage> messages;

  bool agreed() const;  // all calls are equal
  // compute(messages), evaluated by the first rank that asks. One type of result for each exchange.
  template <class Compute>
  const auto& once(Compute compute) const {
    using Result = decltype(compute(messages));
    if (!result_) result_ = std::make_shared<Result>(compute(messages));
    return *static_cast<const Result*>(result_.get());
  }

 private:
  mutable std::shared_ptr<void> result_;
  mutable int agreed_ = -1;
};

// All members' messages by group rank, once all have made this call. A rank that does not come in time is
// named in Error{timeout}; when the calls differ, Error{mismatch} on every rank says which rank calls what.
std::shared_ptr<const Exchanged> exchange(GroupState& group, const ControlCall& call,
                                          const ControlMessage& mine);

// Only the exchange, for callers that number their calls themselves: messages are matched by `tag`, calls are
// not compared.
std::shared_ptr<const Exchanged> exchange_by_tag(GroupState& group, const ControlCall& call,
                                                 std::uint64_t tag, const ControlMessage& mine);

// Tags in the group's context that no collective uses.
inline constexpr std::uint64_t control_tags = std::uint64_t{1} << 63;
inline constexpr std::uint64_t fingerprint_tags = std::uint64_t{1} << 62;
// The label of a message that no rank needs to receive: its sender has given up a monitored_barrier.
inline constexpr std::string_view gave_up_label = "monitored_barrier_given_up";

}  // namespace dist
