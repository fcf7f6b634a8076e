// Channel: connects one task of a remote rank with the fiber that stands for it, over a connected stream
// socket. The two take turns: the task asks, the fiber answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include "dist/core/handles.h"
#include "dist/store/store.h"
#include "dist/store/wire.h"

namespace dist::sim {

class Channel {
 public:
  // `other` is the other side's name, for errors. Waits at most `patience` (real time, whatever the virtual
  // clock says) for the other side to send or receive more, and not at all once it is `stopped`.
  Channel(UniqueFd socket, std::string_view other, Timeout patience = no_timeout,
          std::stop_token stopped = {});

  // Sends a message, followed by bytes whose number the message states. `passed` is a descriptor that goes
  // with it. This and the calls below throw Error{connection} if the other side is gone, or silent for too
  // long.
  void send(wire::Writer& message, ConstBytes bytes = {}, int passed = -1);
  // Blocks. Throws Error{connection} also if what came is too long for a message.
  Bytes receive();
  void receive(std::span<std::byte> bytes);
  // The descriptor that came with the last message; empty if there was none.
  UniqueFd take_passed() { return std::move(passed_); }

  static constexpr std::size_t longest = std::size_t{4} << 20;  // bytes of a message

 private:
  using Clock = std::chrono::steady_clock;

  void read(std::span<std::byte> bytes);
  // After a system call that has moved nothing since `since`: returns if it is to be tried again.
  void go_on_or_fail(Clock::time_point since) const;

  UniqueFd socket_, passed_;
  const std::string_view other_;
  const Timeout patience_;
  const std::stop_token stopped_;
};

// Two connected ends, closed on exec. Throws Error{resource}.
std::pair<UniqueFd, UniqueFd> channel_pair();

}  // namespace dist::sim
