// HandshakeMessage: the first bytes on a connection between two ranks. They prove that both belong to this
// job, say which ranks they are, and on a local socket carry the descriptors of what the two will share. The
// rank that dials sends a greeting, the other one answers with a greeting, and the first confirms with
// another one that this connection is in use: it may have dialled several, and may have abandoned this one
// before its greeting was read.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/handles.h"
#include "dist/transport/link/frame.h"

namespace dist::net {

struct HandshakeMessage {
  static constexpr std::uint64_t right_magic = 0x3168736d'74736964;  // "distmsh1": protocol and byte order
  std::uint64_t magic = right_magic;
  std::int32_t from = 0, to = 0;
  std::int32_t world_size = 0;
  std::uint32_t token_bytes = 0;  // the token's length; its bytes follow
  std::uint64_t rings = 0;        // in the shared segment
  std::uint64_t arena_base = 0;   // the address of the greeting rank's arena, and its size
  std::uint64_t arena_bytes = 0;
};

inline constexpr std::size_t longest_token = 1024;  // bytes

// A connection on which the other side has not greeted yet.
class Handshake {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { listening, complete, broken };

  explicit Handshake(UniqueFd fd) : fd_(std::move(fd)) {}
  int fd() const { return fd_.get(); }
  Clock::time_point since() const { return since_; }

  // False: the connection broke. A greeting always fits into a fresh connection's buffer.
  bool say(HandshakeMessage greeting, std::string_view token, std::span<const int> descriptors);
  // Reads what is there, but never beyond the greeting.
  State listen();
  void expect_another() { heard_ = 0; }           // another greeting, to be read by listen()
  bool is_silent() const { return heard_ == 0; }  // nothing has arrived so far
  const HandshakeMessage& greeting() const { return greeting_; }
  const std::string& token() const { return token_; }
  std::vector<UniqueFd> take_descriptors() { return std::move(descriptors_); }
  UniqueFd take_socket() { return std::move(fd_); }

 private:
  long receive(void* to, std::size_t bytes);
  UniqueFd fd_;
  Clock::time_point since_ = Clock::now();
  HandshakeMessage greeting_;
  std::string token_;
  std::size_t heard_ = 0;  // bytes of greeting and token
  std::vector<UniqueFd> descriptors_;
};

}  // namespace dist::net
