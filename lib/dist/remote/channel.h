// Channel: one task of a remote rank and the fiber that stands for it, over a connected stream socket. What
// is said takes turns: the task asks, the fiber answers.
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
  // `other`: who that is, for errors. Waits at most `patience` (of real time, however far the virtual clock
  // is) for the other side to say more, or to hear; not at all once it is `stopped`.
  Channel(UniqueFd socket, std::string_view other, Timeout patience = no_timeout,
          std::stop_token stopped = {});

  // A message, and bytes behind it whose number the message says. `passed`: a descriptor that goes with it.
  // Here and below, Error{connection}: the other side is gone, or silent for too long.
  void send(wire::Writer& message, ConstBytes bytes = {}, int passed = -1);
  // Blocks. Error{connection} also when what came is too long for a message.
  Bytes receive();
  void receive(std::span<std::byte> bytes);
  // What came with the last message; empty: nothing.
  UniqueFd take_passed() { return std::move(passed_); }

  static constexpr std::size_t longest = std::size_t{4} << 20;  // message, bytes

 private:
  using Clock = std::chrono::steady_clock;

  void read(std::span<std::byte> bytes);
  // After a system call that moved nothing since then: returns when it is to be tried again.
  void go_on_or_fail(Clock::time_point since) const;

  UniqueFd socket_, passed_;
  const std::string_view other_;
  const Timeout patience_;
  const std::stop_token stopped_;
};

// Two connected ends, closed on exec. Error{resource}.
std::pair<UniqueFd, UniqueFd> channel_pair();

}  // namespace dist::sim
