// Channel: one task of a remote rank and the fiber that stands for it, over a connected stream socket. The
// two take turns: the task asks, the fiber answers. Neither side accepts more of a message than its bounds,
// nor any descriptor but the one that a verb asks for: others are closed at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/core/handles.h"
#include "dist/store/store.h"
#include "dist/store/wire.h"

namespace dist::sim {

class Channel {
 public:
  // `other`: the name of the other side, for errors. Waits at most `patience` (of real time, however far the
  // virtual clock is) for the other side to send or to receive; not at all once it is `stopped`. `longest`:
  // the most bytes of an incoming message.
  Channel(UniqueFd socket, std::string_view other, Timeout patience = no_timeout,
          std::stop_token stopped = {}, std::size_t longest = wire::max_frame);
  ~Channel();  // closes descriptors that have not been taken in
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Sends a message, followed by bytes whose number the message states. `passed` is a descriptor that goes
  // with it. This and the calls below throw Error{connection} if the other side is gone, or silent for too
  // long.
  void send(wire::Writer& message, ConstBytes bytes = {}, int passed = -1);
  // Blocks. Throws Error{connection} also if what came is too long for a message.
  Bytes receive();
  void receive(std::span<std::byte> bytes);
  // The one stream socket that came with the last message; empty: nothing, something else, or several.
  UniqueFd take_passed() { return std::move(passed_); }

 private:
  using Clock = std::chrono::steady_clock;

  void read(std::span<std::byte> bytes);
  void keep(std::vector<UniqueFd> came);
  // If a system call has moved nothing since then, returns when to try again.
  void go_on_or_fail(Clock::time_point since) const;

  UniqueFd socket_, passed_;
  const std::string_view other_;
  const Timeout patience_;
  const std::stop_token stopped_;
  const std::size_t longest_;
  int came_ = 0;  // descriptors with the message
};

// Two connected ends, closed on exec. Throws Error{resource}.
std::pair<UniqueFd, UniqueFd> channel_pair();

}  // namespace dist::sim
