#include "dist/store/server_connection.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/store/socket.h"
#include "dist/store/wire.h"

namespace dist {
namespace {
constexpr std::size_t read_step = 64 << 10;       // bytes per turn of a client, so that others get theirs
constexpr std::size_t kept_capacity = 256 << 10;  // bytes; a larger buffer is freed after its frame
}  // namespace

ServerConnection::ServerConnection(UniqueFd fd, const StoreLimits& limits)
    : fd_(std::move(fd)), peer_(peer_name(fd_.get())), limits_(limits) {
  tune_stream(fd_.get());
}

std::string ServerConnection::greet(ConstBytes message, const std::string& token) {
  wire::Reader in(message);
  if (in.get<std::uint64_t>() != wire::magic)
    fail(Errc::connection, "it does not send the greeting of a distlab client");
  const auto version = in.get<std::uint32_t>();
  std::string refusal;
  if (version != wire::version) {
    refusal = fmt::format("speaks version {} of the store's protocol, the client {}", wire::version, version);
  } else if (in.text() != token) {
    refusal =
        "refused this job's token; does it belong to another job? (DIST_JOB_TOKEN must be equal on all "
        "ranks)";
  } else {
    will_.key = in.text();
    will_.value = in.text();
    in.expect_end();
    greeted_ = true;
    drop_frame();
  }
  queue(wire::welcome(refusal));
  return refusal;
}

bool ServerConnection::fill() {
  std::array<std::byte, read_step> piece;
  const ssize_t got = recv(fd_.get(), piece.data(), piece.size(), 0);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  in_.insert(in_.end(), piece.begin(), piece.begin() + got);
  progressed_ = Clock::now();
  return true;
}

std::optional<ConstBytes> ServerConnection::frame() const {
  if (in_.size() < wire::prefix_bytes) return std::nullopt;
  const ConstBytes all(in_);
  const std::size_t length = wire::frame_length(all.first(wire::prefix_bytes));
  const std::size_t allowed = greeted_ ? wire::max_frame : wire::max_greeting;
  if (length > allowed) {
    fail(Errc::connection, "{} of {} bytes, where at most {} are allowed",
         greeted_ ? "a frame" : "a greeting", length, allowed);
  }
  if (in_.size() - wire::prefix_bytes < length) return std::nullopt;
  if (in_.size() - wire::prefix_bytes > length) fail(Errc::connection, "more than one message at a time");
  return all.subspan(wire::prefix_bytes, length);
}

void ServerConnection::drop_frame() {
  in_.clear();
  if (in_.capacity() > kept_capacity) Bytes().swap(in_);
}

void ServerConnection::queue(Bytes frame) {
  out_ = std::move(frame);
  progressed_ = Clock::now();
}

bool ServerConnection::flush() {
  while (has_output()) {
    const ssize_t put = send(fd_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (put < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    sent_ += static_cast<std::size_t>(put);
    progressed_ = Clock::now();
  }
  Bytes().swap(out_);
  sent_ = 0;
  return true;
}

bool ServerConnection::has_news() const {
  return wait_ready(fd_.get(), has_output() ? POLLOUT : POLLIN, Deadline::after({}));
}

ServerConnection::Clock::time_point ServerConnection::limit() const {
  if (!greeted_) return accepted_ + limits_.hello;
  if (has_output() || !in_.empty()) return progressed_ + limits_.stall;
  return Clock::time_point::max();
}

}  // namespace dist
