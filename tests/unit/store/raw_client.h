// A socket that says whatever a test wants to a store's server.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "dist/store/socket.h"
#include "dist/store/wire.h"

namespace dist::test {

class RawClient {
 public:
  explicit RawClient(const std::string& address) {
    auto dialled = dial(parse_address(address), Deadline::after(std::chrono::seconds(20)));
    EXPECT_TRUE(dialled.fd) << dialled.problem;
    fd_ = std::move(dialled.fd);
  }
  void say(ConstBytes bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put > 0) bytes = bytes.subspan(static_cast<std::size_t>(put));
      if (put < 0 && (errno != EAGAIN || !wait_ready(fd_.get(), POLLOUT, patience())))
        return;  // it has hung up
    }
  }
  void say(std::string_view text) { say(std::as_bytes(std::span(text))); }
  void greet(std::string_view token) {
    say(wire::Writer()
            .put(wire::magic)
            .put(wire::version)
            .put(token)
            .put(std::string_view())
            .put(std::string_view())
            .finish());
  }
  // Everything the server says until it closes; `closed` tells whether it did so in time.
  std::string listen(Deadline deadline, bool* closed = nullptr) {
    std::string heard;
    char piece[4096];
    while (wait_ready(fd_.get(), POLLIN, deadline)) {
      const ssize_t got = ::recv(fd_.get(), piece, sizeof piece, 0);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) {
        if (closed) *closed = true;
        return heard;
      }
      heard.append(piece, static_cast<std::size_t>(got));
    }
    if (closed) *closed = false;
    return heard;
  }
  bool is_closed_by_server() {
    bool closed = false;
    listen(patience(), &closed);
    return closed;
  }
  int fd() const { return fd_.get(); }

 private:
  static Deadline patience() { return Deadline::after(std::chrono::seconds(20)); }
  UniqueFd fd_;
};

inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

}  // namespace dist::test
